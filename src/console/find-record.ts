/** Finds the record of a whole id, of any kind, by its prefix. */
import { addresses } from './address.ts';
import { api, ask, type Schemas } from './api.ts';
import type { ConsoleContext } from './console-context.tsx';
import { allOf } from './read-all.ts';
import { grantCalls, type GrantKind } from './views/grants/kinds.ts';
import { keyCalls } from './views/keys/key-calls.ts';
import { type Webhook, webhookCalls } from './views/webhooks/webhook-calls.ts';
import type { PaletteEntry } from './shell/palette-entry.ts';

const WHOLE_ID = /^([a-z]{2,8})_[0-9a-z]{26}$/;

/** Applications asked for a record. */
const MOST_ASKED = 20;
const LIMIT = 200;

type Application = Schemas['Application'];

interface Search {
  readonly id: string;
  readonly workspaceId: string;
  /** The open application first. */
  readonly applications: readonly Application[];
}

/** Returns the prefix of a whole id; null for anything else. */
export function prefixOf(query: string): string | null {
  return WHOLE_ID.exec(query.trim().toLowerCase())?.[1] ?? null;
}

/** Returns the records that a whole id stands for; none for ids of requests, sessions and what was deleted. */
export async function findRecord(
  query: string,
  open: Application | null,
  { applications, workspace }: ConsoleContext,
): Promise<PaletteEntry[]> {
  const id = query.trim().toLowerCase();
  const others = applications.filter((one) => one.workspaceId === workspace.id && one.id !== open?.id && !one.isHidden);
  const asked = [...(open ? [open] : []), ...others].slice(0, MOST_ASKED);
  const find = FINDERS[prefixOf(query) ?? ''];
  return find ? find({ id, workspaceId: workspace.id, applications: asked }) : [];
}

/** Returns a link to what the activity knows of an id that has no view of its own. */
export function traceOf(query: string, workspaceId: string): PaletteEntry & { readonly href: string } {
  const id = query.trim().toLowerCase();
  const filter = id.startsWith('req_') ? 'requestId' : 'targetId';
  const href = `${addresses.workspace(workspaceId, 'activity')}?${filter}=${id}`;
  return { id: `trace ${id}`, title: id, place: 'Activity about this id', href };
}

/** Asks each application until the first has it. */
async function inOne(
  { applications }: Search,
  ask: (application: Application) => Promise<PaletteEntry | null>,
): Promise<PaletteEntry[]> {
  const found = await Promise.all(applications.map(ask));
  return found.filter((entry) => entry !== null).slice(0, 1);
}

const grant = (kind: GrantKind, what: string) => (search: Search) =>
  inOne(search, async ({ id, name }) => {
    const { list } = grantCalls(kind, id);
    const grants = await allOf((cursor) => list(cursor));
    const found = grants.ok && grants.data.find((one) => one.id === search.id);
    return found
      ? { id: found.id, title: found.name, place: `${what}, ${name}`, href: addresses.application(id, kind, found.id) }
      : null;
  });

async function findUser(search: Search): Promise<PaletteEntry[]> {
  return inOne(search, async ({ id, name }) => {
    const query = { q: search.id, limit: 1 };
    const users = await ask(api.GET('/api/applications/{id}/users', { params: { path: { id }, query } }));
    const [user] = users.ok ? users.data.items : [];
    const href = addresses.application(id, 'users', search.id);
    return user ? { id: user.userId, title: user.email, place: `User, ${name}`, href } : null;
  });
}

async function findKey(search: Search): Promise<PaletteEntry[]> {
  const ofWorkspace = await keyCalls({ kind: 'workspace', id: search.workspaceId }).get(search.id);
  if (ofWorkspace.ok) {
    const href = addresses.workspace(search.workspaceId, 'keys', search.id);
    return [{ id: search.id, title: ofWorkspace.data.name, place: 'Workspace key', href }];
  }
  return inOne(search, async ({ id, name }) => {
    const key = await keyCalls({ kind: 'application', id }).get(search.id);
    const href = addresses.application(id, 'keys', search.id);
    return key.ok ? { id: search.id, title: key.data.name, place: `API key, ${name}`, href } : null;
  });
}

const urlOf = ({ url }: Webhook) => url.replace(/^https?:\/\//, '');

async function findWebhook(search: Search): Promise<PaletteEntry[]> {
  return inOne(search, async ({ id, name }) => {
    const all = await allOf(webhookCalls(id).list);
    const found = all.ok && all.data.find((one) => one.id === search.id);
    const href = addresses.application(id, 'webhooks', search.id);
    return found ? { id: search.id, title: urlOf(found), place: `Webhook, ${name}`, href } : null;
  });
}

async function findDelivery(search: Search): Promise<PaletteEntry[]> {
  return inOne(search, async ({ id, name }) => {
    const calls = webhookCalls(id);
    const all = await calls.list(undefined);
    for (const webhook of all.ok ? all.data.items : []) {
      const delivery = await calls.delivery(webhook.id, search.id);
      const href = addresses.application(id, 'webhooks', webhook.id, search.id);
      if (delivery.ok) return { id: search.id, title: `Delivery to ${urlOf(webhook)}`, place: name, href };
    }
    return null;
  });
}

async function findMember({ id, workspaceId }: Search): Promise<PaletteEntry[]> {
  const members = await allOf((cursor) =>
    ask(api.GET('/api/workspace/members', { params: { query: { workspaceId, cursor, limit: LIMIT } } })),
  );
  const found = members.ok && members.data.find((one) => one.id === id || one.userId === id);
  const href = found && addresses.workspace(workspaceId, 'members', found.id);
  return found && href ? [{ id, title: found.email, place: 'Member', href }] : [];
}

const inWorkspace =
  (section: 'activity' | 'outbox', title: string) =>
  async ({ id, workspaceId }: Search): Promise<PaletteEntry[]> => [
    { id, title, place: id, href: addresses.workspace(workspaceId, section, id) },
  ];

/** By prefix. Ids of other kinds have no view of their own. */
const FINDERS: Readonly<Record<string, (search: Search) => Promise<PaletteEntry[]>>> = {
  usr: async (search) => [...(await findUser(search)), ...(await findMember(search))],
  key: findKey,
  rol: grant('roles', 'Role'),
  scp: grant('scopes', 'Scope'),
  mgr: grant('groups', 'Group'),
  whk: findWebhook,
  dlv: findDelivery,
  wsm: findMember,
  aud: inWorkspace('activity', 'Activity record'),
  mail: inWorkspace('outbox', 'Mail'),
  bkp: async ({ id, workspaceId }) => [
    { id, title: 'Backups', place: id, href: addresses.workspace(workspaceId, 'backups') },
  ],
};
