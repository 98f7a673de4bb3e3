/* Contract graphs (.dlg files): opened, verified and run without Python or torch.
 *
 * A graph has entries, such as "prefill" and "decode", that share constants, state and generators.
 * A file is verified as a whole before it is used. The functions are in libdl_graph.so of
 * the wheel dl-graph; no vendor sees this header. A status belongs to the caller and must be
 * released; its message names the file, the entry, the call or value, and the way out.
 *
 * A graph may be shared by threads; a session is used by one thread at a time. */
#ifndef DL_CONTRACT_GRAPH_H_
#define DL_CONTRACT_GRAPH_H_

#include "dl/handles.h"
#include "dl/vendor.h"

DL_EXTERN_C_BEGIN

/* Made by dl_contract_graph_open. */
typedef struct dl_contract_graph {
  const char* name;  /* the path */
  const char* text;  /* canonical JSON */
  const void* bytes; /* of the file */
  uint64_t count;    /* of the bytes */
} dl_contract_graph_t;

/* Made by dl_contract_session_open. */
typedef struct dl_contract_session {
  const dl_contract_graph_t* graph;
} dl_contract_session_t;

/* The path must name a regular file. Its header is read and checked against the length of the file,
 * then its constants are mapped: they take memory when they are used. Replace a file that is open
 * by renaming another one to its path; a program that uses a file that is cut off receives SIGBUS.
 */
dl_status_t* dl_contract_graph_open(const char* path, dl_contract_graph_t** graph);
/* The same of bytes in memory, which are copied; `name` stands for the path in messages. */
dl_status_t* dl_contract_graph_read(const void* bytes, uint64_t count, const char* name,
                                    dl_contract_graph_t** graph);
/* No session may use it any more. */
void dl_contract_graph_close(dl_contract_graph_t* graph);

/* The index of an entry, or -1. Entries are in the order of their names. */
int64_t dl_contract_graph_entry(const dl_contract_graph_t* graph, const char* name);

/* The plan of an entry for a size of each of its symbols, in their order. `offsets` has room for
 * one number for each storage of the entry: its offset among the temporaries, or -1. */
typedef struct dl_contract_plan {
  uint64_t struct_size;
  int64_t bytes;     /* of the block that holds the temporaries */
  int64_t most_live; /* the most bytes of them that are live at once: no plan has less */
  int64_t apart;     /* what they would take without sharing memory */
} dl_contract_plan_t;
dl_status_t* dl_contract_graph_plan(const dl_contract_graph_t* graph, int64_t entry,
                                    const int64_t* sizes, uint64_t count, int64_t* offsets,
                                    uint64_t offset_count, dl_contract_plan_t* plan);

/* How a call runs on a device that computes in memory of the host. */
typedef struct dl_contract_call_tiling {
  int64_t group;      /* of calls that run together block by block, counted from 0; or -1 */
  int64_t blocks;     /* that the group runs in */
  const char* reason; /* why it is in none; never freed */
} dl_contract_call_tiling_t;
/* For a size of each of the symbols of an entry, in their order. `cache` is the bytes of the cache
 * that blocks are made for; 0: of this machine's. `bytes`: what the temporaries take. */
dl_status_t* dl_contract_graph_tiling(const dl_contract_graph_t* graph, int64_t entry,
                                      const int64_t* sizes, uint64_t count, int64_t cache,
                                      dl_contract_call_tiling_t* calls, uint64_t call_count,
                                      int64_t* bytes);
/* How an operator works on rows: "elementwise", "along" a dimension with all before it apart, or ""
 * where that is not known. */
const char* dl_contract_row_rule(const char* operator_name);

/* Memory is filled with bytes of no meaning before each run: for tests. */
#define DL_CONTRACT_POISON (1u << 0)
/* Every call runs as a whole. Otherwise groups of calls run block by block where that is faster, on
 * devices that compute in memory of the host; what they write is the same. */
#define DL_CONTRACT_WHOLE (1u << 1)
/* Every call that can runs block by block, faster or not: for tests. */
#define DL_CONTRACT_BLOCKS (1u << 2)

/* The device that a session runs on. The vendor and the host outlive the session. */
typedef struct dl_contract_target {
  uint64_t struct_size;
  const dl_host_t* host;          /* that the vendor was made with */
  dl_vendor_t* vendor;            /* dl_opened_t.vendor: goes into the contexts of operators */
  dl_vendor_t* checked;           /* dl_opened_t.checked: its table is called */
  const dl_operator_t* operators; /* NULL: those of the table */
  uint64_t operator_count;
  void* stream; /* where all is enqueued; NULL is the default stream */
  int32_t device;
  uint32_t flags; /* DL_CONTRACT_* */
} dl_contract_target_t;

/* A tensor in memory of the host or of the device, as the graph lays it out: `bytes` from the first
 * element to the last. */
typedef struct dl_contract_tensor {
  uint64_t struct_size;
  void* data;
  uint64_t bytes;
  const int64_t* sizes;
  const int64_t* strides; /* in elements */
  int64_t ndim;
  int32_t dtype;  /* diopiDtype_t */
  int32_t device; /* diopiDevice_t */
} dl_contract_tensor_t;

/* The size of a symbol that no input has. */
typedef struct dl_contract_size {
  const char* name;
  int64_t value;
} dl_contract_size_t;

/* A host for vendors that a program without one opens: a single thread, messages dropped. */
const dl_host_t* dl_contract_host(void);

/* Binds all operators of the graph, and places its constants and its state on the device. */
dl_status_t* dl_contract_session_open(const dl_contract_graph_t* graph,
                                      const dl_contract_target_t* target,
                                      dl_contract_session_t** session);
/* The same with DL_CONTRACT_WHOLE. */
dl_status_t* dl_contract_session_open_whole(const dl_contract_graph_t* graph,
                                            const dl_contract_target_t* target,
                                            dl_contract_session_t** session);
/* Waits for what was enqueued. */
void dl_contract_session_close(dl_contract_session_t* session);

/* Runs an entry. The first run with a tuple of sizes plans and binds; later ones only call.
 *
 * Inputs come in the order of the entry; their strides are those of the graph and are not read. One
 * on the device is used where it is, and must stay as it is until the run has finished. One on the
 * host is copied, or used where it is by a vendor that accepts any host pointer; what the graph
 * writes into it is there on return. Outputs are filled in; their memory is the session's and holds
 * until its next run. */
dl_status_t* dl_contract_session_run(dl_contract_session_t* session, int64_t entry,
                                     const dl_contract_tensor_t* inputs, uint64_t input_count,
                                     const dl_contract_size_t* sizes, uint64_t size_count,
                                     dl_contract_tensor_t* outputs, uint64_t output_count);
/* Waits for all runs, and says what they found wrong with their data. */
dl_status_t* dl_contract_session_synchronize(dl_contract_session_t* session);
/* Waits, and copies `bytes` from the first element on to the host; no more than the tensor has. */
dl_status_t* dl_contract_session_read(dl_contract_session_t* session,
                                      const dl_contract_tensor_t* tensor, void* memory,
                                      uint64_t bytes);
/* A state as bytes; its memory holds as long as the session. */
dl_status_t* dl_contract_session_state(dl_contract_session_t* session, const char* name,
                                       dl_contract_tensor_t* state);
/* Sets all states to their initial values. */
dl_status_t* dl_contract_session_reset(dl_contract_session_t* session);
/* A generator, whose seed and offset the caller may set between runs; both are 0 at first. */
dl_status_t* dl_contract_session_generator(dl_contract_session_t* session, const char* name,
                                           dl_generator_prefix_t** generator);

DL_EXTERN_C_END
#endif
