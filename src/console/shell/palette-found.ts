/** Entries that the server finds: records of the open application and workspace, and pages of the documentation. */
import { useEffect, useState } from 'preact/hooks';
import { addresses } from '../address.ts';
import { api, ask, type Schemas } from '../api.ts';
import { type ConsoleContext, useConsole, useRights } from '../console-context.tsx';
import { findEntries } from './find-entries.ts';
import type { PaletteEntry } from './palette-entry.ts';
import { openPage } from './palette-known.ts';
import type { DocsSearch, SearchEntry } from '../../pages/docs/search.ts';
import { findUsers } from '../find-users.ts';
import { findRecord, prefixOf, traceOf } from '../find-record.ts';

const FOUND_PEOPLE = 6;
const FOUND_DOCUMENTS = 4;
const TYPING_MS = 150;
const LIMIT = 200;

type Application = Schemas['Application'];

/** Records that are matched here, read once while the palette is open. */
interface Lists {
  named?: Promise<PaletteEntry[]>;
  documents?: Promise<DocsSearch>;
}

/** Searches once typing pauses. */
export function useFound(query: string, application: Application | null): PaletteEntry[] {
  const console = useConsole();
  const { canWrite } = useRights();
  const [found, setFound] = useState<PaletteEntry[]>([]);
  const [lists] = useState<Lists>({});
  useEffect(() => {
    setFound([]);
    const q = query.trim();
    if (q.length < 2) return;
    let isOver = false;
    const timer = setTimeout(async () => {
      const entries =
        prefixOf(q) !== null
          ? findRecord(q, application, console).then((found) =>
              found.length > 0 ? found : [traceOf(q, console.workspace.id)],
            )
          : Promise.all([
              application ? findPeople(application.id, q) : [],
              (lists.named ??= readNamed(application, console, canWrite)).then((all) => findEntries(all, q)),
              (lists.documents ??= readDocuments()).then((search) => search(q, FOUND_DOCUMENTS).map(documentEntry)),
            ]).then((parts) => parts.flat());
      const next = await entries;
      if (!isOver) setFound(next);
    }, TYPING_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [query, application?.id]);
  return found;
}

async function findPeople(id: string, q: string): Promise<PaletteEntry[]> {
  const people = await findUsers(id, { q, limit: FOUND_PEOPLE });
  return (people.ok ? people.data.items : []).map(({ userId, email, username }) => ({
    id: userId,
    title: email,
    place: username ? `User, ${username}` : 'User',
    href: addresses.application(id, 'users', userId),
  }));
}

/** Reads what has a name. The API shows keys and webhooks only to members who may write. */
async function readNamed(
  application: Application | null,
  { workspace }: ConsoleContext,
  canWrite: boolean,
): Promise<PaletteEntry[]> {
  const ofWorkspace = { query: { workspaceId: workspace.id, limit: LIMIT } };
  const lists = [
    ...(application ? ofApplication(application.id, canWrite) : []),
    entriesOf(ask(api.GET('/api/workspace/members', { params: ofWorkspace })), ({ id, email, role }) => ({
      id,
      title: email,
      place: `Member, ${role}`,
      href: addresses.workspace(workspace.id, 'members', id),
    })),
  ];
  return (await Promise.all(lists)).flat();
}

function ofApplication(id: string, canWrite: boolean): Promise<PaletteEntry[]>[] {
  const params = { path: { id }, query: { limit: LIMIT } };
  const endpoints = { path: { id }, query: { limit: 100 } };
  const grants = [
    { kind: 'roles', path: 'roles', what: 'Role' },
    { kind: 'scopes', path: 'scopes', what: 'Scope' },
    { kind: 'groups', path: 'memberships', what: 'Group' },
  ] as const;
  return [
    ...grants.map(({ kind, path, what }) =>
      entriesOf(ask(api.GET(`/api/applications/{id}/${path}`, { params })), (grant) => ({
        id: grant.id,
        title: grant.name,
        place: `${what} ${grant.slug}`,
        href: addresses.application(id, kind, grant.id),
      })),
    ),
    ...(canWrite
      ? [
          entriesOf(ask(api.GET('/api/applications/{id}/api-keys', { params })), (key) => ({
            id: key.id,
            title: key.name,
            place: `API key ${key.prefix}…`,
            href: addresses.application(id, 'keys', key.id),
          })),
          entriesOf(ask(api.GET('/api/applications/{id}/webhooks', { params: endpoints })), (webhook) => ({
            id: webhook.id,
            title: webhook.description ?? webhook.url,
            place: 'Webhook',
            words: webhook.url,
            href: addresses.application(id, 'webhooks', webhook.id),
          })),
        ]
      : []),
  ];
}

/** Returns the entries of a list; none if it could not be read. */
async function entriesOf<Item>(
  list: Promise<{ readonly ok: true; readonly data: { readonly items: readonly Item[] } } | { readonly ok: false }>,
  entryOf: (item: Item) => PaletteEntry,
): Promise<PaletteEntry[]> {
  const read = await list;
  return read.ok ? read.data.items.map(entryOf) : [];
}

/** Reads the index of the documentation's own search, whose library loads with it. */
async function readDocuments(): Promise<DocsSearch> {
  try {
    const [{ docsSearch }, response] = await Promise.all([
      import('../../pages/docs/search.ts'),
      fetch('/docs/search.json'),
    ]);
    return docsSearch(await response.text());
  } catch {
    return () => [];
  }
}

function documentEntry({ title, place, href }: SearchEntry): PaletteEntry {
  return {
    id: `docs ${href}`,
    title,
    place: place === 'Guide' ? 'Documentation' : `Documentation, ${place}`,
    run: () => openPage(href),
  };
}
