/** `gatehouse keys`: manages API keys of an application or, with `--workspace`, of the workspace. */
import type { DataAt, ItemAt } from '../../client/paths.ts';
import { UsageError } from '../arguments.ts';
import { type RemoteCall, remoteCommand, type RemoteCommand, type RemoteDefinition } from './remote-command.ts';
import type { ListQuery } from './show.ts';

type Key = ItemAt<'/api/applications/{id}/api-keys'>;
type NewKey = DataAt<'/api/applications/{id}/api-keys', 'post'>;

const OF_WORKSPACE = { workspace: 'Keys of the workspace instead of those of an application.' };
const KEY = { name: 'KEY', meaning: 'Id (key_…).' };
const ONCE = 'It is shown this once. Put it where your backend reads it, and nowhere else.';

const APP_KEYS = '/api/applications/{id}/api-keys';
const WORKSPACE_KEYS = '/api/workspace/api-keys';

/** Returns the id of the application; null with `--workspace`. */
async function applicationId(call: RemoteCall): Promise<string | null> {
  if (!call.isOn('workspace')) return (await call.application()).id;
  if (call.text('app') !== undefined) throw new UsageError('--workspace and --app exclude each other; give one.');
  return null;
}

function stateOf({ revokedAt, rotatedToId, gracePeriodEndsAt }: Key): string {
  if (revokedAt !== null) return 'revoked';
  if (gracePeriodEndsAt !== null) return 'in grace';
  return rotatedToId === null ? 'active' : 'rotated';
}

/** Returns the creator of a key; null for the server itself. */
function creatorOf({ createdBy }: Key): string | null {
  if (createdBy === null) return null;
  const { userId, email, key } = createdBy;
  return key === null ? (email ?? userId) : `${key.name}, ${key.id}`;
}

function expiry(call: RemoteCall): string | undefined {
  const days = call.number('expires-in-days');
  return days === undefined ? undefined : new Date(call.terminal.now() + days * 24 * 3600_000).toISOString();
}

async function showNew({ show, terminal }: RemoteCall, key: NewKey): Promise<void> {
  if (show.isJson) return show.json(key);
  await show.record(key, [
    ['Key', key.token],
    ['Id', key.id],
    ['Name', key.name],
    ['Access', key.access],
    ['Expires', show.time(key.expiresAt) ?? 'never'],
  ]);
  terminal.err(`\n${ONCE}\n`);
}

function onKey(
  definition: Omit<RemoteDefinition, 'carryOut' | 'operands'>,
  act: (call: RemoteCall, keyId: string, id: string | null) => Promise<void>,
): RemoteCommand {
  return remoteCommand({
    ...definition,
    operands: [KEY],
    switches: { ...OF_WORKSPACE, ...definition.switches },
    isOfApplication: true,
    carryOut: async (call) => act(call, call.operands[0] ?? '', await applicationId(call)),
  });
}

export const KEYS: readonly RemoteCommand[] = [
  remoteCommand({
    name: 'keys list',
    summary: 'List API keys, newest first',
    switches: OF_WORKSPACE,
    isOfApplication: true,
    isList: true,
    async carryOut(call) {
      const { client, show, paging } = call;
      const id = await applicationId(call);
      await show.list<Key>(
        {
          columns: [
            { title: 'ID', of: ({ id: keyId }) => keyId },
            { title: 'NAME', of: ({ name }) => name, isCut: true },
            { title: 'ACCESS', of: ({ access }) => access },
            { title: 'STATE', of: stateOf },
            { title: 'LAST USED', of: ({ lastUsedAt }) => show.time(lastUsedAt) },
            { title: 'MADE BY', of: creatorOf, isCut: true },
          ],
          page: (query: ListQuery) =>
            id === null ? client.get(WORKSPACE_KEYS, { query }) : client.get(APP_KEYS, { path: { id }, query }),
          empty: 'There is no key yet. Make one: gatehouse keys create NAME',
        },
        paging,
      );
    },
  }),
  remoteCommand({
    name: 'keys create',
    summary: 'Create an API key; it is shown this once',
    operands: [{ name: 'NAME', meaning: 'What it is for.' }],
    options: {
      access: { value: 'ACCESS', meaning: 'read, or full, which also changes things. Default: read.' },
      'expires-in-days': { value: 'N', meaning: 'Default: never.' },
    },
    switches: OF_WORKSPACE,
    isOfApplication: true,
    next: ['Next: keep it in a file and give that by --key-file, or set GATEHOUSE_KEY.'],
    async carryOut(call) {
      const access = call.choice('access', ['read', 'full']) ?? 'read';
      const id = await applicationId(call);
      const expiresAt = expiry(call);
      const body = { name: call.operands[0] ?? '', access, ...(expiresAt !== undefined && { expiresAt }) } as const;
      const created =
        id === null
          ? await call.client.post(WORKSPACE_KEYS, { body })
          : await call.client.post(APP_KEYS, { path: { id }, body });
      await showNew(call, created);
    },
  }),
  onKey({ name: 'keys show', summary: 'Show a key, whatever its state' }, async ({ client, show }, keyId, id) => {
    const key =
      id === null
        ? await client.get(`${WORKSPACE_KEYS}/{keyId}`, { path: { keyId } })
        : await client.get(`${APP_KEYS}/{keyId}`, { path: { id, keyId } });
    await show.record(key, [
      ['Name', key.name],
      ['Id', key.id],
      ['Begins with', key.prefix],
      ['Access', key.access],
      ['State', stateOf(key)],
      ['Limits', `${key.rateLimits.perMinute} a minute, ${key.rateLimits.perDay} a day`],
      ['Used', `${key.usage.minute} in this minute, ${key.usage.day} today`],
      ['Last used', show.time(key.lastUsedAt)],
      ['Expires', show.time(key.expiresAt) ?? 'never'],
      ['Created', show.time(key.createdAt)],
      ['Made by', creatorOf(key)],
    ]);
  }),
  onKey(
    {
      name: 'keys rotate',
      summary: 'Give a key a new token; the old one stops at once',
      switches: { grace: 'Let the old one work for 24 hours more.' },
      isFinal: true,
    },
    async (call, keyId, id) => {
      const { client } = call;
      const isGentle = call.isOn('grace');
      if (!isGentle) await call.confirm(keyId, 'The token in use stops working at once.');
      const word = isGentle ? 'rotate-with-grace' : 'rotate';
      const rotated =
        id === null
          ? await client.post(`${WORKSPACE_KEYS}/{keyId}/${word}`, { path: { keyId } })
          : await client.post(`${APP_KEYS}/{keyId}/${word}`, { path: { id, keyId } });
      await showNew(call, rotated);
    },
  ),
  onKey({ name: 'keys revoke', summary: 'Revoke a key for good', isFinal: true }, async (call, keyId, id) => {
    await call.confirm(keyId, 'The key stops working at once and for good.');
    const revoked =
      id === null
        ? await call.client.delete(`${WORKSPACE_KEYS}/{keyId}`, { path: { keyId } })
        : await call.client.delete(`${APP_KEYS}/{keyId}`, { path: { id, keyId } });
    await call.show.done(revoked, `${revoked.name} is revoked.`);
  }),
];
