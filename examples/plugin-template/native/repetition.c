/* A feature in C: how many words stand directly behind themselves, as in "the the". Punctuation marks do not count.
 *
 * It fills the table of smt_feature.h and knows nothing of Python. The state of a string is its first and last word.
 */
#include <ctype.h>
#include <stdlib.h>

#include "smt_feature.h"

/* What Python loads: the prototype of the feature. */
const smt_feature_v1 *example_repetition(void);

enum { NO_WORD = -1 };

typedef struct {
  int32_t first; /* NO_WORD both, for a string without words */
  int32_t last;
} state;

typedef struct {
  smt_feature_v1 table;
  const smt_vocabulary_v1 *words;
} repetition;

static int counts(const repetition *own, int32_t number) {
  size_t length = 0;
  const char *word = own->words->word(own->words, number, &length);
  return word != NULL && !(length == 1 && ispunct((unsigned char)word[0]));
}

/* Score one edge. Without tails its children are strings that nothing is known of. */
static double score(const repetition *own, const smt_edges_v1 *edges, int64_t edge, state *result) {
  const int32_t *symbol = edges->target + edges->target_offsets[edge];
  const int32_t *end = edges->target + edges->target_offsets[edge + 1];
  double repeated = 0.0;
  result->first = result->last = NO_WORD;
  for (; symbol < end; ++symbol) {
    state part = {*symbol, *symbol};
    if (smt_is_child(*symbol)) {
      if (edges->tails == NULL) {
        result->last = NO_WORD;
        continue;
      }
      part = *(const state *)edges->tails[edges->tail_offsets[edge] + smt_child(*symbol)];
      if (part.first == NO_WORD) continue;
    }
    if (part.first == result->last && counts(own, part.first)) repeated += 1.0;
    if (result->first == NO_WORD) result->first = part.first;
    result->last = part.last;
  }
  return repeated;
}

static int start(smt_feature_v1 *feature, const smt_sentence_v1 *sentence, smt_error_v1 *error) {
  repetition *own = feature->self;
  (void)error;
  own->words = sentence->words;
  return 0;
}

static int combine_batch(smt_feature_v1 *feature, const smt_edges_v1 *edges, double *scores, void *states,
                         smt_error_v1 *error) {
  const repetition *own = feature->self;
  state *results = states;
  (void)error;
  for (int64_t edge = 0; edge < edges->count; ++edge) scores[edge] = score(own, edges, edge, &results[edge]);
  return 0;
}

static int estimate(smt_feature_v1 *feature, const smt_edges_v1 *edges, double *scores, smt_error_v1 *error) {
  const repetition *own = feature->self;
  state unused;
  (void)error;
  for (int64_t edge = 0; edge < edges->count; ++edge) scores[edge] = score(own, edges, edge, &unused);
  return 0;
}

static smt_feature_v1 *clone(const smt_feature_v1 *feature, smt_error_v1 *error) {
  repetition *own = malloc(sizeof *own);
  (void)error;
  if (own == NULL) return NULL;
  own->table = *feature;
  own->table.self = own;
  own->words = NULL;
  return &own->table;
}

static void release(smt_feature_v1 *feature) { free(feature->self); }

static const smt_feature_v1 prototype = {
    .version = SMT_FEATURE_V1,
    .size = sizeof(smt_feature_v1),
    .components = 1,
    .state_size = sizeof(state),
    .clone = clone,
    .release = release,
    .start = start,
    .combine_batch = combine_batch,
    .estimate = estimate,
};

const smt_feature_v1 *example_repetition(void) { return &prototype; }
