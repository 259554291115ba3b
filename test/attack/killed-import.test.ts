/** The server is killed during an import: no row is half imported, and sending the import again completes it. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { faultsOf } from '../faults/promises.ts';
import { emptyFolder, readDatabase, request, type RunningServer, run, startServer } from '../support/binary.ts';

setDefaultTimeout(120_000);

const ROWS = 500;
const KILLS = 4;

const rows = Array.from({ length: ROWS }, (_, index) => ({
  email: `person${index}@example.com`,
  roleSlugs: ['developer'],
  scopeSlugs: ['read'],
  membershipSlugs: ['gold'],
  profile: {
    username: `person${index}`,
    givenName: 'Ada',
    fullName: `Ada ${index}`,
    locale: 'en-GB',
    languages: [{ code: 'en', level: 'NATIVE' }],
  },
}));

interface Listed {
  readonly email: string;
  readonly [field: string]: unknown;
}

async function listed(server: RunningServer, token: string, id: string): Promise<Listed[]> {
  const items: Listed[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const path = `/api/applications/${id}/users?limit=200${cursor && `&cursor=${cursor}`}`;
    const { json } = await request(server, 'GET', path, { token });
    items.push(...json.data.items);
    cursor = json.data.nextCursor;
  }
  return items.filter(({ email }) => email.startsWith('person'));
}

/** A row's result without ids and times. */
const plain = ({ email, ...record }: Listed) => {
  const text = JSON.stringify(record, (name, value) => (/(?:Id|At|^id)$/.test(name) ? undefined : value));
  return text
    .replaceAll(email, 'EMAIL')
    .replaceAll(email.split('@', 1)[0]!, 'NAME')
    .replace(/Ada \d+/g, 'Ada N');
};

/** Rows per table: those of an imported row are all there or all missing. */
const rowsPerTable = (folder: string) =>
  readDatabase(folder, (sqlite) => {
    const count = (sql: string) => (sqlite.query(sql).get() as { n: number }).n;
    const imported = "(SELECT au.id FROM application_users au WHERE au.username LIKE 'person%')";
    return {
      members: count(`SELECT count(*) AS n FROM application_users WHERE id IN ${imported}`),
      roles: count(
        `SELECT count(*) AS n FROM application_user_roles JOIN roles ON roles.id = role_id
         WHERE slug = 'developer' AND application_user_id IN ${imported}`,
      ),
      recorded: count(
        "SELECT coalesce(sum(json_extract(detail, '$.created')), 0) AS n FROM audit_records WHERE kind = 'user.imported'",
      ),
    };
  });

test(`${KILLS} kills leave no row half imported; sending the import again imports each row once`, async () => {
  const { path: folder } = emptyFolder();
  const token = (await run(['key'], { cwd: folder })).stdout.trim();
  const env = { GATEHOUSE_WORKSPACE_KEY: token };
  let server = await startServer(folder, env);
  const create = async () => {
    const { id } = (await request(server, 'POST', '/api/applications', { token, body: { name: 'Shop' } })).json.data;
    for (const [kind, slug] of [
      ['roles', 'developer'],
      ['scopes', 'read'],
      ['memberships', 'gold'],
    ] as const)
      await request(server, 'POST', `/api/applications/${id}/${kind}`, { token, body: { slug } });
    return id as string;
  };
  const id = await create();
  const send = () => request(server, 'POST', `/api/applications/${id}/users/bulk`, { token, body: { users: rows } });

  const reached: number[] = [];
  for (let kill = 0; kill < KILLS; kill += 1) {
    const answer = send().catch(() => null);
    const before = reached.at(-1) ?? 0;
    // Killed after some of the batches.
    await Promise.race([
      answer,
      (async () => {
        while (rowsPerTable(folder).members <= before) await Bun.sleep(1);
      })(),
    ]);
    await server.stop('SIGKILL');
    const isAnswered = (await answer) !== null;
    const { members, roles, recorded } = rowsPerTable(folder);
    expect({ roles, recorded }).toEqual({ roles: members, recorded: members });
    reached.push(members);
    server = await startServer(folder, env);
    const people = await listed(server, token, id);
    expect(people).toHaveLength(members);
    expect(new Set(people.map(plain)).size).toBe(1);
    if (isAnswered) break;
  }
  console.log(`killed when ${reached.join(', ')} of ${ROWS} rows were imported`);
  expect(reached.some((count) => count > 0 && count < ROWS)).toBe(true);

  const { status, json } = await send();
  expect([status, json.data.summary]).toEqual([
    200,
    {
      requested: ROWS,
      created: ROWS - reached.at(-1)!,
      linked: 0,
      alreadyMember: reached.at(-1)!,
      skipped: 0,
    },
  ]);
  const people = await listed(server, token, id);
  expect(new Set(people.map(({ email }) => email)).size).toBe(ROWS);
  expect(people).toHaveLength(ROWS);
  expect(new Set(people.map(plain)).size).toBe(1);
  await server.stop();
  expect(readDatabase(folder, faultsOf)).toEqual([]);
});
