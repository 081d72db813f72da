/* A stateful feature as a table of C functions, version 1. C99 and C++; no Python header, no Python call.
 *
 * A decoder scores millions of edges for a sentence. A feature that is one of these tables is called with batches of them
 * from the decoder's own threads, without the interpreter. What the functions owe the decoder is what the Python contract
 * `StatefulFeature` (smtplugins/contracts/features.py) says; this header says how it is spelled in C.
 *
 * How a table gets to the host. The plugin's Offer makes an object with an attribute `smt_feature_v1`: a capsule of that
 * name (PyCapsule_New with SMT_FEATURE_V1_NAME) around a pointer to a table. This table is the prototype. Searches of
 * smtplugins.core take it from there (smtplugins.core.search.stateful_search.native_scorer); lists ask for the Python contracts.
 *
 * Who owns what. The prototype, and the library its functions are in, live as long as the capsule, and the host keeps the
 * capsule until it has released every clone. `clone` allocates and `release` frees, both inside the plugin, so the two
 * sides need not share an allocator. Everything else that is passed belongs to the host: batches, scores, states and error
 * buffers for the time of the call, a sentence and its vocabulary until the next `start` of the same clone or its `release`.
 *
 * Threads. On the prototype the host calls `clone` and nothing else, from one thread at a time. A clone is used by one
 * thread at a time, not always the same one, and by many at once with other clones: what clones share must not change.
 * The interpreter's lock is not held. After a fork the child makes clones of its own.
 *
 * States. A state is `state_size` bytes, aligned to SMT_STATE_ALIGNMENT. The host keeps, copies and compares states as
 * bytes: two edges whose states have equal bytes are interchangeable in all that follows, so equal states must be equal
 * bytes. The host fills the memory with zeros before the feature writes into it. Write member by member: assigning a whole
 * struct may copy what lies between its members. Keep no pointer in a state, for it will not say the same elsewhere, and
 * mind that 0.0 and -0.0 are equal numbers and other bytes.
 *
 * Scores. `components` numbers for each item, item after item, finite as floats (the host keeps no more of them), every
 * one written in every call. They do not depend on the thread, on how edges are cut into batches, or on what was scored
 * before. The host checks that they are finite.
 *
 * Failures. A function that fails returns a number other than 0 (`clone` returns NULL) and may say why in the error buffer:
 * UTF-8, ending in a 0 byte. What it wrote elsewhere is then ignored and the run ends with that message. No C++ exception
 * and no longjmp may leave a function.
 *
 * Versions. This table never changes: the host refuses a table whose `version` it does not know, whose `size` is smaller
 * than it expects, or that has more than 65536 columns or states of more than 2^20 bytes. Structs that the host passes may
 * get more members at their end.
 */
#ifndef SMT_FEATURE_H
#define SMT_FEATURE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SMT_FEATURE_V1 1
#define SMT_FEATURE_V1_NAME "smt_feature_v1"
#define SMT_STATE_ALIGNMENT 8
#define SMT_ERROR_CAPACITY 512

/* Where a function says why it failed. The first byte is 0 when the function is called. */
typedef struct smt_error_v1 {
  char message[SMT_ERROR_CAPACITY];
} smt_error_v1;

/* The words behind the numbers. Numbers are 0 and up; words may be added while a sentence is decoded, and a word never
 * changes its number. Two vocabularies with the same `serial` agree on every word that both have, so what was found out
 * about a number may be kept as long as the serial stays the same. Both functions may be called from any thread. */
typedef struct smt_vocabulary_v1 smt_vocabulary_v1;
struct smt_vocabulary_v1 {
  const void *self;
  uint64_t serial;
  /* The word of a number: UTF-8 with a 0 byte behind it that `length` (if not NULL) does not count. NULL if no word has
   * this number. The text stays where it is as long as the vocabulary. */
  const char *(*word)(const smt_vocabulary_v1 *vocabulary, int32_t number, size_t *length);
  /* The number of a word, or -1 if the vocabulary does not have it. */
  int32_t (*find)(const smt_vocabulary_v1 *vocabulary, const char *text, size_t length);
};

/* The sentence to be translated. All texts are UTF-8 and end in a 0 byte. */
typedef struct smt_sentence_v1 {
  const char *id;
  const char *const *tokens;
  int64_t token_count;
  const char *const *annotation_names;
  const char *const *annotation_values;
  int64_t annotation_count;
  const smt_vocabulary_v1 *words; /* of the target sides of this sentence's edges */
} smt_sentence_v1;

/* A batch of edges, at least one. The target side of edge i is target[target_offsets[i]] up to, not including,
 * target[target_offsets[i + 1]]; it may be empty. A symbol is the number of a word, or -1 - k for child k. Children are
 * numbered from 0 in the order in which they stand in the target side, each once. The state of child k of edge i is at
 * tails[tail_offsets[i] + k]; in `estimate` both arrays are NULL, for the children are not known yet. */
typedef struct smt_edges_v1 {
  int64_t count;
  const int32_t *target;
  const int64_t *target_offsets; /* count + 1 of them */
  const void *const *tails;
  const int64_t *tail_offsets; /* count + 1 of them */
} smt_edges_v1;

static inline int smt_is_child(int32_t symbol) { return symbol < 0; }
static inline int32_t smt_child(int32_t symbol) { return -1 - symbol; }

typedef struct smt_feature_v1 smt_feature_v1;
struct smt_feature_v1 {
  uint32_t version; /* SMT_FEATURE_V1 */
  uint32_t size;    /* sizeof(smt_feature_v1) */
  void *self;       /* the plugin's own */

  /* The columns: how many, at least 1, and their names. Without names the host calls a single one after the feature,
   * NAME, and several NAME[0], NAME[1] and so on. */
  int32_t components;
  const char *const *component_names; /* or NULL */

  /* Bytes of a state, a multiple of SMT_STATE_ALIGNMENT; 0 for a feature without states, which gets no `states` and must
   * not read `tails`. This and the columns are the same for all clones. */
  size_t state_size;

  /* A feature for one thread, with the options of this one and no sentence begun; NULL if that fails. */
  smt_feature_v1 *(*clone)(const smt_feature_v1 *feature, smt_error_v1 *error);
  /* The end of a clone. Never called on the prototype. */
  void (*release)(smt_feature_v1 *feature);

  /* Begin a sentence; the one before is over. Comes before any of the calls below. */
  int (*start)(smt_feature_v1 *feature, const smt_sentence_v1 *sentence, smt_error_v1 *error);

  /* Score edges: scores gets count x components numbers, what each edge adds to its children; states, which is all zeros,
   * gets count states. No state overlaps a tail. */
  int (*combine_batch)(smt_feature_v1 *feature, const smt_edges_v1 *edges, double *scores, void *states,
                       smt_error_v1 *error);

  /* Score what only a whole sentence shows: scores gets count x components numbers. NULL if that is always 0. A feature
   * without states gets no `states`. */
  int (*finish)(smt_feature_v1 *feature, int64_t count, const void *const *states, double *scores,
                smt_error_v1 *error);

  /* Guess scores of edges whose children are not known: scores gets count x components numbers. They guide pruning, need
   * not be bounds, and never enter a score. NULL if the guess is always 0. */
  int (*estimate)(smt_feature_v1 *feature, const smt_edges_v1 *edges, double *scores, smt_error_v1 *error);
};

#ifdef __cplusplus
}
#endif

#endif
