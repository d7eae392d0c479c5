'use strict';
// timers/promises: timers as promises.

function waiting(start, stop, args, value, options) {
  return new Promise((resolve, reject) => {
    const signal = options?.signal;
    const aborted = () => internal.aborted(signal);
    if (signal?.aborted) { reject(aborted()); return; }
    const timer = start(() => resolve(value), ...args);
    if (options?.ref === false) timer.unref();
    signal?.addEventListener('abort', () => { stop(timer); reject(aborted()); }, { once: true });
  });
}
/** Returns the error of an aborted wait. */
internal.aborted = (signal) => {
  const error = new Error('The operation was aborted', signal?.reason === undefined ? undefined : { cause: signal.reason });
  error.name = 'AbortError';
  error.code = 'ABORT_ERR';
  return error;
};
exports.setTimeout = (delay, value, options) => waiting(setTimeout, clearTimeout, [delay], value, options);
exports.setImmediate = (value, options) => waiting(setImmediate, clearImmediate, [], value, options);
exports.setInterval = async function* (delay, value, options) {
  for (;;) { await exports.setTimeout(delay, undefined, options); yield value; }
};
exports.scheduler = { wait: (delay, options) => exports.setTimeout(delay, undefined, options), yield: () => exports.setImmediate() };
