/** PgBouncer in transaction mode, one in front of each PostgreSQL server. */
import { chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../support/free-port.ts';
import { serverUser } from '../../support/postgres-binaries.ts';
import { DATABASE } from './postgres-pair.ts';
import { owned } from './processes.ts';

/** Its defaults keep clients waiting for 2 minutes, and try a lost server again only after 15 seconds. */
const WAITS = 'query_wait_timeout = 5\nserver_login_retry = 1\nserver_connect_timeout = 2';

export async function startBouncers(servers: readonly number[], folder: string) {
  const ports = servers.map(() => freePort());
  const children = servers.map((server, at) => {
    const file = join(folder, `pgbouncer-${at}.ini`);
    writeFileSync(
      file,
      `[databases]
${DATABASE} = host=127.0.0.1 port=${server} user=${DATABASE}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${ports[at]}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 30
max_client_conn = 200
${WAITS}
`,
    );
    if (serverUser.uid !== undefined) chownSync(file, serverUser.uid, serverUser.gid);
    const quiet = { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' } as const;
    return owned(Bun.spawn(['pgbouncer', '-q', file], { ...serverUser, ...quiet }));
  });
  return {
    ports,
    async close() {
      for (const child of children) child.kill('SIGKILL');
      await Promise.all(children.map(({ exited }) => exited));
    },
  };
}
