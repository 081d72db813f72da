"""Building blocks of tuning: runs of a learner, the loop around a decoder."""

from __future__ import annotations

from smtplugins.host.learn.loop import Ended, LoopPlan, tune_decoder
from smtplugins.host.learn.run_inputs import check_sentences
from smtplugins.host.learn.tuning import plan_of

__all__ = ["Ended", "LoopPlan", "check_sentences", "plan_of", "tune_decoder"]
