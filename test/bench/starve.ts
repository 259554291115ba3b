/**
 * Floods of new connections: clients open a connection per request. Measures how long a client with an open
 * connection waits meanwhile, which equals the delay of the server's timers, and whether SIGTERM works during the
 * load. Prints one JSON line.
 * Usage: bun test/bench/starve.ts [seconds]
 */
import { emptyFolder } from '../support/binary.ts';
import { createApplication, startServer } from './server.ts';
import { watch } from './waits.ts';
import { wrk } from './wrk.ts';

const seconds = Number(process.argv[2] ?? 10);

interface Flood {
  readonly name: string;
  readonly connections: number;
  /** Returns Lua of an argument table for wrk.format. */
  request(clientId: string): string;
}

const send = (clientId: string) =>
  `"POST", "/api/v1/auth/otp/send", { ["Content-Type"] = "application/json", ["Connection"] = "close" },
     '{"email":"person' .. turn .. '@example.com","clientId":"${clientId}"}'`;
const description = () => '"GET", "/openapi.yaml", { ["Connection"] = "close" }';

const floods: readonly Flood[] = [
  { name: 'otp/send', connections: 4, request: send },
  { name: 'otp/send', connections: 16, request: send },
  { name: 'openapi.yaml', connections: 4, request: description },
  { name: 'openapi.yaml', connections: 16, request: description },
];

const results = [];
for (const flood of floods) results.push(await measure(flood));
console.log(JSON.stringify({ benchmark: 'starve', floods: results }));

async function measure({ name, connections, request }: Flood) {
  const scratch = emptyFolder();
  const server = await startServer(scratch.path);
  try {
    const { clientId } = await createApplication(server, 'Bench');
    const script = `local turn = 0
      request = function()
        turn = turn + 1
        return wrk.format(${request(clientId)})
      end`;
    const others = await watch(server);
    // Runs longer than the measurement, since the server is stopped during the load.
    const load = wrk({ url: server.url, connections, seconds: seconds + 5, folder: scratch.path, script });
    await Bun.sleep(seconds * 1000);
    const waits = await others.stop();
    const stopMs = await Promise.race([server.stop(), load.then(() => null)]);
    const { requests } = await load;
    return {
      name,
      connections,
      requestsPerSecond: Math.round(requests / (seconds + (stopMs ?? 5000) / 1000)),
      others: waits,
      /** Null if the server stopped only after the load. */
      stopMs: stopMs === null ? null : Math.round(stopMs),
    };
  } finally {
    server.kill();
    scratch.remove();
  }
}
