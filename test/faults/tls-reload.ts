/**
 * Reloads the certificate under new connections, with and without the kernel's migration of connections that a closing
 * listener had accepted. Each run has its own network namespace, which needs root. Prints the number of reset
 * connections.
 *
 *   bun test/faults/tls-reload.ts [RELOADS]
 */
import { join } from 'node:path';
import { makeCertificate, writeCertificate } from '../support/certificate.ts';
import { emptyFolder, startServer } from '../support/binary.ts';

const CLIENTS = 30;
const BETWEEN_MS = 1500;
/** A replaced listener closes after 10 s at the latest. */
const LAST_CLOSES_MS = 12_000;

interface Figures {
  readonly answered: number;
  /** Failed connections by error code. */
  readonly failed: Readonly<Record<string, number>>;
}

async function reloadUnderLoad(reloads: number): Promise<Figures> {
  const scratch = emptyFolder();
  const pairs = [await makeCertificate({ name: 'first' }), await makeCertificate({ name: 'second' })] as const;
  const { cert, key } = writeCertificate(scratch.path, pairs[0]);
  const server = await startServer(join(scratch.path, 'data'), {}, ['--tls-cert', cert, '--tls-key', key]);
  const failed: Record<string, number> = {};
  let answered = 0;
  let isOver = false;
  const client = async () => {
    while (!isOver)
      try {
        const options = { keepalive: false, headers: { connection: 'close' }, tls: { rejectUnauthorized: false } };
        await (await fetch(`${server.url}/healthz`, options)).text();
        answered += 1;
      } catch (error) {
        const { code = 'unknown' } = error as { code?: string };
        failed[code] = (failed[code] ?? 0) + 1;
      }
  };
  const clients = Array.from({ length: CLIENTS }, client);
  for (let reload = 1; reload <= reloads; reload += 1) {
    await Bun.sleep(BETWEEN_MS);
    writeCertificate(scratch.path, pairs[reload % 2 === 0 ? 0 : 1]);
    server.process.kill('SIGHUP');
  }
  await Bun.sleep(LAST_CLOSES_MS);
  isOver = true;
  await Promise.all(clients);
  await server.stop();
  scratch.remove();
  return { answered, failed };
}

const [word = '20', isInside] = process.argv.slice(2);
if (isInside) console.log(JSON.stringify(await reloadUnderLoad(Number(word))));
else
  for (const handOn of [0, 1]) {
    const setUp = `ip link set lo up && echo ${handOn} > /proc/sys/net/ipv4/tcp_migrate_req`;
    const inside = `exec "${process.execPath}" "${import.meta.path}" ${Number(word)} inside`;
    const child = Bun.spawnSync(['unshare', '--net', 'sh', '-c', `${setUp} && ${inside}`], { stderr: 'inherit' });
    console.log(`tcp_migrate_req ${handOn}: ${child.stdout.toString().trim()}`);
  }
