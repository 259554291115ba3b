/**
 * Runs inside the machine of power-cut.ts, which starts it: a server on the disk, under the mixed load. Each
 * acknowledged promise is one line `ACK {…}` on the console.
 */
import { startServer } from '../support/binary.ts';
import { mixedLoad } from './mixed-load.ts';
import type { Scene } from './scene.ts';

/** Instructions from the host. */
export interface Orders {
  readonly scene: Scene;
  readonly folder: string;
  readonly round: number;
  readonly isConcurrent: boolean;
}

const { scene, folder, round, isConcurrent } = (await Bun.file(process.argv[2]!).json()) as Orders;
const { port } = new URL(scene.receiverUrl);
Bun.serve({ port: Number(port), hostname: '127.0.0.1', fetch: () => new Response() });
const server = await startServer(folder, scene.env);
console.log('UNDER LOAD');
await mixedLoad({
  server,
  scene,
  round,
  isConcurrent,
  promise: (promised) => console.log(`ACK ${JSON.stringify(promised)}`),
  isOver: () => false,
});
