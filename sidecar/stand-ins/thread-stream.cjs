// Stands in for the log's worker threads in the sidecar's bundle: it writes to stderr itself, and loading them costs memory while it waits.
module.exports = class ThreadStream {
  constructor() {
    throw new Error("the sidecar's log has no transports");
  }
};
