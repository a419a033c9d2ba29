// Stands in for the log's worker threads in the sidecar's bundle: it writes to stderr itself, and loading
// them costs memory while it waits.
// oxlint-disable-next-line typescript/no-extraneous-class -- its shape is the other module's
module.exports = class ThreadStream {
  constructor() {
    throw new Error("the sidecar's log has no transports");
  }
};
