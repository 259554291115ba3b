/** List of keys with a detail panel and all actions. */
import { useCallback, useMemo, useState } from 'preact/hooks';
import { useLocation, useSearch } from 'wouter-preact';
import { useToast } from '../../../pages/components/toast.tsx';
import { addresses, useFilters, useOpen, withSearch } from '../../address.ts';
import type { ApplicationViewProps } from '../../application-view.ts';
import { Countdown } from '../../components/countdown.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { Empty } from '../../components/empty.tsx';
import { FilterFields } from '../../components/filters.tsx';
import { ListDetail } from '../../components/list-detail.tsx';
import { Menu, MenuEntry } from '../../components/menu.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { SecretDialog } from '../../components/secret-dialog.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { useCreateDialog, useDialog } from '../../components/use-dialog.tsx';
import { useListed } from '../../data.ts';
import { useConsole, useRights } from '../../console-context.tsx';
import { type Key, keyCalls, type KeyOwner, type NewKey } from './key-calls.ts';
import { KeyChange } from './key-change.tsx';
import { type KeyAction, KeyDetail } from './key-detail.tsx';
import { KeyRevocation, KeyRotation } from './key-dialogs.tsx';
import { KeyForm } from './key-form.tsx';
import { KEY_STATE_WORDS, stateOf } from './key-state.ts';
import { Usage } from './usage.tsx';

const TEXTS = {
  application: {
    title: 'API keys',
    lead: 'What your servers and tools call Gatehouse with. Each can be limited, rotated and revoked on its own.',
    add: 'Create API key',
    emptyTitle: 'No API keys yet',
    emptyLead:
      'Your backend needs one to verify the sessions of people who have signed in. Read access is enough for that.',
  },
  workspace: {
    title: 'Workspace keys',
    lead: 'Keys that reach every application of this workspace, or those you choose: for provisioning, agents and continuous integration.',
    add: 'Create workspace key',
    emptyTitle: 'No workspace keys yet',
    emptyLead:
      'A backend of one application is better off with a key of that application. A workspace key is for tools that create applications, or look after several.',
  },
};

const COLUMNS: readonly Column<Key>[] = [
  { key: 'name', title: 'Name', render: ({ name }) => <span dir="auto">{name}</span> },
  { key: 'prefix', title: 'Prefix', render: ({ prefix }) => <code>{prefix}</code>, isExtra: true },
  { key: 'access', title: 'Access', render: ({ access }) => (access === 'full' ? 'Full' : 'Read'), isExtra: true },
  { key: 'status', title: 'Status', render: (key) => <KeyStatus of={key} /> },
  {
    key: 'usage',
    title: 'Calls today',
    render: ({ usage, rateLimits }) => <Usage label="Calls today" used={usage.day} limit={rateLimits.perDay} />,
    isExtra: true,
  },
  { key: 'used', title: 'Last used', render: ({ lastUsedAt }) => <Time at={lastUsedAt} />, isExtra: true },
];

const SOURCE = {
  name: 'source',
  id: 'key-source',
  label: 'Whose keys',
  any: 'Servers and tools',
  choices: [{ value: 'device', label: 'Devices of people' }],
} as const;

function KeyStatus({ of: key }: { readonly of: Key }) {
  const [, render] = useState(0);
  const state = stateOf(key);
  const { word, tone } = KEY_STATE_WORDS[state];
  return (
    <>
      <Status tone={tone}>{word}</Status>
      {state === 'grace' && key.gracePeriodEndsAt && (
        <span class="muted grace-left">
          {' for '}
          <Countdown to={key.gracePeriodEndsAt} onEnd={() => render((count) => count + 1)} />
        </span>
      )}
    </>
  );
}

/** Shows the keys of the application; without one, of the workspace. Only members who may write can read them. */
export function Keys({ application }: Partial<ApplicationViewProps>) {
  const { canWrite } = useRights();
  const { workspace } = useConsole();
  const kind = application ? 'application' : 'workspace';
  const { id } = application ?? workspace;
  const owner = useMemo<KeyOwner>(() => ({ kind, id }), [kind, id]);
  if (canWrite) return <ShownKeys owner={owner} />;
  return (
    <>
      <PageHead title={TEXTS[kind].title} lead={TEXTS[kind].lead} />
      <Empty title="Keys are shown to admins and owners">
        Keys give access to everything here, so only admins and owners, who may create and revoke them, see which ones
        exist. Ask one of them if you need a key.
      </Empty>
    </>
  );
}

function ShownKeys({ owner }: { readonly owner: KeyOwner }) {
  const { title, lead, add: text, emptyTitle, emptyLead } = TEXTS[owner.kind];
  const addressOf = (...rest: string[]) => addresses[owner.kind](owner.id, 'keys', ...rest);
  const calls = useMemo(() => keyCalls(owner), [owner]);
  const toast = useToast();
  const search = useSearch();
  const [, navigate] = useLocation();
  const [open] = useOpen();
  const secret = useDialog<{ readonly key: NewKey; readonly isRotated: boolean }>(({ key, isRotated }) => (
    <SecretDialog
      id="key-token"
      title={isRotated ? 'The new token' : `${key.name} is created`}
      lead="Put it where your servers keep their secrets, such as an environment variable. Only a hash of it is kept here."
      what="token"
      value={key.token}
      onStored={() => {
        changed();
        navigate(addressOf(key.id));
      }}
    />
  ));
  const {
    button: add,
    emptyButton,
    dialog: creation,
  } = useCreateDialog({ id: 'add-key', text }, () => (
    <KeyForm owner={owner} calls={calls} onDone={(key) => secret.open({ key, isRotated: false })} />
  ));
  const change = useDialog<{ readonly act: KeyAction; readonly of: Key }>(({ act, of }) => {
    switch (act) {
      case 'change':
        return <KeyChange of={of} calls={calls} onDone={() => changed('Saved.')} />;
      case 'rotate':
        return <KeyRotation of={of} calls={calls} onDone={(key) => secret.open({ key, isRotated: true })} />;
      case 'revoke':
        return <KeyRevocation of={of} calls={calls} onDone={({ name }) => changed(`${name} is revoked.`)} />;
    }
  });
  const menuOf = useCallback((key: Key) => <KeyMenu of={key} onAct={(act) => change.open({ act, of: key })} />, []);
  const [revision, setRevision] = useState(0);
  const [filters, setFilters] = useFilters(['source']);
  const source = filters.source === 'device' ? 'device' : 'api';
  const list = useListed<Key>((cursor) => calls.list(source, cursor), [owner, source]);

  /** Reloads everything, because a change may affect a predecessor too. */
  function changed(message?: string): void {
    setRevision((before) => before + 1);
    void list.reload();
    if (message) toast(message);
  }

  return (
    <>
      <PageHead title={title} lead={lead} actions={add} />
      <div class="toolbar">
        <FilterFields of={[SOURCE]} filters={filters} onChange={setFilters} />
      </div>
      <ListDetail
        list={
          <DataTable
            id="keys"
            label={title}
            list={list}
            columns={COLUMNS}
            keyOf={({ id }) => id}
            hrefOf={({ id }) => withSearch(addressOf(id), search)}
            open={open}
            menuOf={menuOf}
            empty={
              source === 'device' ? (
                <Empty title="No connected devices">
                  People connect command-line tools with a code on this application’s device page; each gets a key that
                  acts as them.
                </Empty>
              ) : (
                <Empty title={emptyTitle} action={emptyButton}>
                  {emptyLead}
                </Empty>
              )
            }
          />
        }
        detail={
          open && (
            <KeyDetail
              key={open}
              id={open}
              calls={calls}
              known={list.items ?? []}
              revision={revision}
              hrefOf={(id) => withSearch(addressOf(id), search)}
              closeTo={withSearch(addressOf(), search)}
              onAct={(act, of) => change.open({ act, of })}
            />
          )
        }
      />
      {creation}
      {change.dialog}
      {secret.dialog}
    </>
  );
}

interface KeyMenuProps {
  readonly of: Key;
  readonly onAct: (act: KeyAction) => void;
}

function KeyMenu({ of: key, onAct }: KeyMenuProps) {
  const state = stateOf(key);
  if (state === 'revoked') return null;
  const canRotate = state === 'active' && key.source !== 'device';
  return (
    <Menu label={`Actions for ${key.name}`}>
      <MenuEntry onClick={() => onAct('change')}>Edit key</MenuEntry>
      {canRotate && <MenuEntry onClick={() => onAct('rotate')}>Rotate</MenuEntry>}
      <MenuEntry isDanger onClick={() => onAct('revoke')}>
        Revoke
      </MenuEntry>
    </Menu>
  );
}
