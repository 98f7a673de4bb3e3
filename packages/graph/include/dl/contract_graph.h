/* Contract graphs (.dlg files): opened, verified and run without Python or torch.
 *
 * A graph has entries, such as "prefill" and "decode", that share constants, state and generators.
 * A file is verified as a whole before it is used. The functions are in libdl_graph.so of
 * the wheel dl-graph; vendors do not use this header. A status belongs to the caller and must be
 * released; its message names the file, the entry, the call or value, and the remedy.
 *
 * Threads may share a graph; a session must be used by one thread at a time. */
#ifndef DL_CONTRACT_GRAPH_H_
#define DL_CONTRACT_GRAPH_H_

#include "dl/handles.h"
#include "dl/vendor.h"

DL_EXTERN_C_BEGIN

/* Graph, created by dl_contract_graph_open. */
typedef struct dl_contract_graph {
  const char* name;  /* the path */
  const char* text;  /* canonical JSON */
  const void* bytes; /* bytes of the file */
  uint64_t count;    /* number of bytes */
} dl_contract_graph_t;

/* Session, created by dl_contract_session_open. */
typedef struct dl_contract_session {
  const dl_contract_graph_t* graph;
} dl_contract_session_t;

/* The path must name a regular file. Its header is read and checked against the length of the file,
 * then its constants are mapped: they take memory when they are used. To replace an open file,
 * rename another file to its path: if an open file is truncated, its users receive SIGBUS.
 */
dl_status_t* dl_contract_graph_open(const char* path, dl_contract_graph_t** graph);
/* Open a graph from bytes in memory, which are copied; messages use `name` as the path. */
dl_status_t* dl_contract_graph_read(const void* bytes, uint64_t count, const char* name,
                                    dl_contract_graph_t** graph);
/* Close a graph. All of its sessions must have been closed. */
void dl_contract_graph_close(dl_contract_graph_t* graph);

/* Return the index of an entry, or -1. Entries are sorted by name. */
int64_t dl_contract_graph_entry(const dl_contract_graph_t* graph, const char* name);

/* Memory plan of an entry for one size per symbol, in the order of the symbols. `offsets` has one
 * element for each storage of the entry: its offset among the temporaries, or -1. */
typedef struct dl_contract_plan {
  uint64_t struct_size;
  int64_t bytes;     /* size of the block that holds the temporaries */
  int64_t most_live; /* maximum number of bytes live at once, a lower bound for every plan */
  int64_t apart;     /* bytes needed if temporaries did not share memory */
} dl_contract_plan_t;
dl_status_t* dl_contract_graph_plan(const dl_contract_graph_t* graph, int64_t entry,
                                    const int64_t* sizes, uint64_t count, int64_t* offsets,
                                    uint64_t offset_count, dl_contract_plan_t* plan);

/* Execution of a call on a device that computes in host memory. */
typedef struct dl_contract_call_tiling {
  int64_t group;      /* index of the group of calls that run block by block; -1 if in no group */
  int64_t blocks;     /* number of blocks of the group */
  const char* reason; /* why the call is not in a group; never freed */
} dl_contract_call_tiling_t;
/* Return the tiling of an entry for one size per symbol, in the order of the symbols. `cache` is
 * the assumed cache size in bytes; 0: this machine's. `bytes` gets the size of the temporaries. */
dl_status_t* dl_contract_graph_tiling(const dl_contract_graph_t* graph, int64_t entry,
                                      const int64_t* sizes, uint64_t count, int64_t cache,
                                      dl_contract_call_tiling_t* calls, uint64_t call_count,
                                      int64_t* bytes);
/* Return the row rule of an operator: "elementwise"; "along" if the dimensions before a certain one
 * are independent; or "" if no rule is known. */
const char* dl_contract_row_rule(const char* operator_name);

/* Fill memory with garbage before each run, for tests. */
#define DL_CONTRACT_POISON (1u << 0)
/* Run every call as a whole. By default, groups of calls run block by block if that is faster, on
 * devices that compute in host memory; the results are the same. */
#define DL_CONTRACT_WHOLE (1u << 1)
/* Run every call block by block that can be, even if it is slower, for tests. */
#define DL_CONTRACT_BLOCKS (1u << 2)

/* Device on which a session runs. The vendor and the host must outlive the session. */
typedef struct dl_contract_target {
  uint64_t struct_size;
  const dl_host_t* host;          /* host with which the vendor was opened */
  dl_vendor_t* vendor;            /* dl_opened_t.vendor, for the contexts of operators */
  dl_vendor_t* checked;           /* dl_opened_t.checked, whose table is called */
  const dl_operator_t* operators; /* NULL: the operators of the table */
  uint64_t operator_count;
  void* stream; /* stream for all work; NULL is the default stream */
  int32_t device;
  uint32_t flags; /* DL_CONTRACT_* */
} dl_contract_target_t;

/* Tensor in host or device memory with the layout that the graph defines. `bytes` is the distance
 * from the first element to the end of the last one. */
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

/* Size of a symbol that is not a size of any input. */
typedef struct dl_contract_size {
  const char* name;
  int64_t value;
} dl_contract_size_t;

/* Return a minimal host for programs that open a vendor: one thread, messages are dropped. */
const dl_host_t* dl_contract_host(void);

/* Open a session: bind all operators of the graph, and copy constants and states to the device. */
dl_status_t* dl_contract_session_open(const dl_contract_graph_t* graph,
                                      const dl_contract_target_t* target,
                                      dl_contract_session_t** session);
/* Run an entry with DL_CONTRACT_WHOLE. */
dl_status_t* dl_contract_session_open_whole(const dl_contract_graph_t* graph,
                                            const dl_contract_target_t* target,
                                            dl_contract_session_t** session);
/* Close a session. Waits for all enqueued work. */
void dl_contract_session_close(dl_contract_session_t* session);

/* Run an entry. The first run with a tuple of sizes plans and binds; later runs only call.
 *
 * Inputs are in the order of the entry; their strides are those of the graph and are not read. A
 * device input is used in place and must not change until the run has completed. A host input is
 * copied, or used in place if the vendor accepts any host pointer; writes of the graph to it have
 * completed on return. Outputs are filled in; their memory belongs to the session and is valid
 * until its next run. */
dl_status_t* dl_contract_session_run(dl_contract_session_t* session, int64_t entry,
                                     const dl_contract_tensor_t* inputs, uint64_t input_count,
                                     const dl_contract_size_t* sizes, uint64_t size_count,
                                     dl_contract_tensor_t* outputs, uint64_t output_count);
/* Wait for all runs, and report the errors that they found in their data. */
dl_status_t* dl_contract_session_synchronize(dl_contract_session_t* session);
/* Wait, and copy `bytes` bytes from the first element on to the host, at most the tensor's size. */
dl_status_t* dl_contract_session_read(dl_contract_session_t* session,
                                      const dl_contract_tensor_t* tensor, void* memory,
                                      uint64_t bytes);
/* Return a state as a tensor of bytes; its memory is valid as long as the session. */
dl_status_t* dl_contract_session_state(dl_contract_session_t* session, const char* name,
                                       dl_contract_tensor_t* state);
/* Set all states to their initial values. */
dl_status_t* dl_contract_session_reset(dl_contract_session_t* session);
/* Return a generator. The caller may set its seed and offset between runs; both are initially 0. */
dl_status_t* dl_contract_session_generator(dl_contract_session_t* session, const char* name,
                                           dl_generator_prefix_t** generator);

DL_EXTERN_C_END
#endif
