'use strict';
// os: the sandbox as a machine.

Object.assign(exports, {
  EOL: '\n', devNull: '/dev/null',
  arch: () => 'wasm32', platform: () => 'linux', type: () => 'Linux', release: () => '6.0.0-isopod', version: () => 'Isopod', machine: () => 'wasm32',
  hostname: () => { try { return sys.readText('/etc/hostname').trim(); } catch { return 'isopod'; } },
  homedir: () => process.env.HOME ?? '/home/user', tmpdir: () => (process.env.TMPDIR ?? '/tmp').replace(/(?<=.)\/$/, ''),
  endianness: () => 'LE', uptime: () => process.uptime(), loadavg: () => [0, 0, 0], totalmem: () => 1073741824, freemem: () => 536870912,
  cpus: () => [{ model: 'wasm32', speed: 0, times: { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 } }], availableParallelism: () => 1,
  networkInterfaces: () => ({}), getPriority: () => 0,
  userInfo: () => ({ uid: 1000, gid: 1000, username: process.env.USER ?? 'user', homedir: process.env.HOME ?? '/home/user', shell: '/bin/sh' }),
  constants: { signals: internal.SIGNALS, errno: Object.fromEntries(Object.entries(internal.ERRNOS).map(([name, [number]]) => [name, -number])) },
});
