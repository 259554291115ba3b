/** Command palette: finds views, records and actions. Ctrl+K or ⌘K. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { addresses } from '../address.ts';
import { api, ask, type Schemas } from '../api.ts';
import { useRights, useConsole } from '../console-context.tsx';
import { APPLICATION_SECTIONS, WORKSPACE_SECTIONS } from './sections.ts';

interface Entry {
  readonly id: string;
  readonly title: string;
  readonly detail: string;
  readonly href: string;
  readonly also?: string;
}

interface PaletteProps {
  readonly application: Schemas['Application'] | null;
  readonly onClose: () => void;
}

const SHOWN = 12;
const FOUND_PEOPLE = 6;
const TYPING_MS = 150;

export function Palette({ application, onClose }: PaletteProps) {
  const known = useKnownEntries(application);
  const [, navigate] = useLocation();
  const [query, setQuery] = useState('');
  const [chosen, setChosen] = useState(0);
  const searched = useSearched(query, application);
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    dialog.current?.showModal();
    return () => dialog.current?.close();
  }, []);

  const entries = [...known.filter((entry) => isMatch(entry, query)).slice(0, SHOWN), ...searched];
  const at = Math.min(chosen, entries.length - 1);
  useEffect(() => document.getElementById(`palette-${at}`)?.scrollIntoView({ block: 'nearest' }), [at]);

  function go(entry: Entry | undefined): void {
    if (!entry) return;
    onClose();
    navigate(entry.href);
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key === 'ArrowDown') setChosen((at + 1) % Math.max(entries.length, 1));
    else if (event.key === 'ArrowUp') setChosen((at - 1 + entries.length) % Math.max(entries.length, 1));
    else if (event.key === 'Enter') go(entries[at]);
    else return;
    event.preventDefault();
  }

  return (
    <dialog
      class="palette"
      id="palette"
      ref={dialog}
      aria-label="Search and go"
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <input
        id="palette-query"
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-entries"
        aria-activedescendant={entries.length > 0 ? `palette-${at}` : undefined}
        aria-label="Search applications, users, keys and actions"
        placeholder="Search applications, users, keys, actions"
        autocomplete="off"
        spellcheck={false}
        autoFocus
        value={query}
        onKeyDown={onKeyDown}
        onInput={({ currentTarget }) => {
          setQuery(currentTarget.value);
          setChosen(0);
        }}
      />
      <ul id="palette-entries" role="listbox" aria-label="Found">
        {entries.map((entry, index) => (
          <li
            key={entry.id}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === at}
            onMouseMove={() => setChosen(index)}
            onClick={() => go(entry)}
          >
            <span dir="auto">{entry.title}</span>
            <span class="fine">{entry.detail}</span>
          </li>
        ))}
      </ul>
      {entries.length === 0 && <p class="palette-none">Nothing found for “{query}”.</p>}
    </dialog>
  );
}

function isMatch({ title, detail, also = '' }: Entry, query: string): boolean {
  const text = `${title} ${detail} ${also}`.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

function useKnownEntries(application: Schemas['Application'] | null): Entry[] {
  const { applications, workspace, workspaces } = useConsole();
  const { canWrite } = useRights();
  const inApplication = application
    ? APPLICATION_SECTIONS.flatMap(({ sections }) => sections).map(({ name, title, also }) => ({
        id: `section ${name}`,
        title,
        detail: application.name,
        also,
        href: addresses.application(application.id, name),
      }))
    : [];
  const actions = !canWrite
    ? []
    : [
        ...(application
          ? [
              { title: 'Create API key', href: `${addresses.application(application.id, 'keys')}?new=1` },
              { title: 'Add webhook', href: `${addresses.application(application.id, 'webhooks')}?new=1` },
              { title: 'Create role', href: `${addresses.application(application.id, 'roles')}?new=1` },
              { title: 'Import users', href: addresses.application(application.id, 'import') },
            ]
          : []),
        { title: 'Create application', href: `${addresses.workspace(workspace.id, 'applications')}?new=1` },
        { title: 'Invite member', href: `${addresses.workspace(workspace.id, 'members')}?new=1` },
      ].map((action) => ({ ...action, id: `action ${action.title}`, detail: 'Action' }));
  return [
    ...inApplication,
    ...applications
      .filter((one) => !one.isHidden)
      .map(({ id, name, stage }) => ({
        id,
        title: name,
        detail: `Application, ${stage}`,
        href: addresses.application(id),
      })),
    ...actions,
    ...WORKSPACE_SECTIONS.map(({ name, title, also }) => ({
      id: `workspace section ${name}`,
      title,
      detail: workspace.name,
      also,
      href: addresses.workspace(workspace.id, name),
    })),
    ...workspaces
      .filter(({ id }) => id !== workspace.id)
      .map(({ id, name }) => ({ id, title: name, detail: 'Workspace', href: addresses.workspace(id, 'applications') })),
  ];
}

/** Searches people and keys of the open application once typing pauses. */
function useSearched(query: string, application: Schemas['Application'] | null): Entry[] {
  const { canWrite } = useRights();
  const [found, setFound] = useState<Entry[]>([]);
  useEffect(() => {
    setFound([]);
    if (!application || query.trim().length < 2) return;
    let isOver = false;
    const timer = setTimeout(async () => {
      const [people, keys] = await Promise.all([
        ask(
          api.GET('/api/applications/{id}/users', {
            params: { path: { id: application.id }, query: { q: query.trim(), limit: FOUND_PEOPLE } },
          }),
        ),
        // The API shows keys only to members who may write.
        canWrite ? ask(api.GET('/api/applications/{id}/api-keys', { params: { path: { id: application.id } } })) : null,
      ]);
      if (isOver) return;
      const users = people.ok ? people.data.items : [];
      const named = keys?.ok
        ? keys.data.items.filter((key) => isMatch({ id: '', href: '', title: key.name, detail: key.prefix }, query))
        : [];
      setFound([
        ...users.map(({ userId, email, username }) => ({
          id: userId,
          title: email,
          detail: username ? `User, ${username}` : 'User',
          href: addresses.application(application.id, 'users', userId),
        })),
        ...named.slice(0, FOUND_PEOPLE).map(({ id, name, prefix }) => ({
          id,
          title: name,
          detail: `API key ${prefix}…`,
          href: addresses.application(application.id, 'keys', id),
        })),
      ]);
    }, TYPING_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [query, application?.id]);
  return found;
}
