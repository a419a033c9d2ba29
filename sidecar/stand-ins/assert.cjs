// Stands in for Node's `assert` in the sidecar's bundle: the log writer uses it once, and it costs a waiting
// sidecar 2 MB.
module.exports = function assert(condition, message) {
  if (!condition) throw new Error(message);
};
