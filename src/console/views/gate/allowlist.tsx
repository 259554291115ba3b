/** Allowlist and waitlist, filtered by state, with single and bulk decisions. */
import { useCallback, useEffect, useState } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { useFilters } from '../../address.ts';
import { api, ask, type Schemas } from '../../api.ts';
import { Action } from '../../components/action.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { Empty } from '../../components/empty.tsx';
import { Menu, MenuEntry } from '../../components/menu.tsx';
import { Status } from '../../components/status.tsx';
import { useTabInView } from '../../components/tabs-in-view.ts';
import { Time } from '../../components/time.tsx';
import { useCreateDialog, useDialog } from '../../components/use-dialog.tsx';
import { count, counted } from '../../components/format.ts';
import { type Listed, useListed } from '../../data.ts';
import { useRights } from '../../console-context.tsx';
import type { ApplicationViewProps } from '../../application-view.ts';
import { AddDialog } from './add-dialog.tsx';
import { DecideDialog, type Done } from './decide-dialog.tsx';
import { BETA_STATUSES, type Decision, type WaitlistEntry, SOURCES } from './words.ts';

export const PAGE = 100;
const NOTHING = { ok: true as const, data: { items: [] as WaitlistEntry[], nextCursor: null } };

/** @param mayRead false for members without admin rights, who cannot read the list. */
export function useAllowlist(applicationId: string, mayRead: boolean): Listed<WaitlistEntry> {
  const [{ status }] = useFilters(['status']);
  return useListed<WaitlistEntry>(
    async (cursor) => {
      if (!mayRead) return NOTHING;
      const query = { cursor, limit: PAGE, status: status as WaitlistEntry['status'] | undefined };
      return ask(api.GET('/api/applications/{id}/beta-interests', { params: { path: { id: applicationId }, query } }));
    },
    [applicationId, status, mayRead],
  );
}

const COLUMNS: readonly Column<WaitlistEntry>[] = [
  { key: 'email', title: 'E-mail', render: ({ email }) => <span dir="auto">{email}</span> },
  {
    key: 'status',
    title: 'State',
    render: ({ status }) => <Status tone={BETA_STATUSES[status].tone}>{BETA_STATUSES[status].title}</Status>,
  },
  { key: 'source', title: 'Source', render: ({ source }) => SOURCES[source] ?? source, isExtra: true },
  { key: 'created', title: 'Since', render: ({ createdAt }) => <Time at={createdAt} />, isExtra: true },
  {
    key: 'decided',
    title: 'Decided',
    render: ({ decidedAt }) => <Time at={decidedAt} none="Not yet" />,
    isExtra: true,
  },
];

interface AllowlistProps extends ApplicationViewProps {
  readonly list: Listed<WaitlistEntry>;
  readonly counts: Schemas['BetaCounts'] | null;
  readonly onChanged: () => Promise<void>;
  /** Called when the list already shows the decision. */
  readonly onDecided: () => Promise<void>;
}

/** Applies decisions to the list and drops entries that no longer match the filter, without moving others. */
function settled(
  items: readonly WaitlistEntry[],
  states: Done['states'],
  shown: string | undefined,
): readonly WaitlistEntry[] {
  return items.flatMap((entry) => {
    const status = states.has(entry.id) ? states.get(entry.id) : entry.status;
    if (!status || (shown !== undefined && status !== shown)) return [];
    return status === entry.status ? entry : { ...entry, status, decidedAt: new Date().toISOString() };
  });
}

export function Allowlist({ application, list, counts, onChanged, onDecided }: AllowlistProps) {
  const { canWrite } = useRights();
  const [filters] = useFilters(['status']);
  const {
    button: add,
    emptyButton,
    dialog: creation,
  } = useCreateDialog({ id: 'add-addresses', text: 'Add addresses' }, () => (
    <AddDialog applicationId={application.id} onDone={onChanged} />
  ));
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const decision = useDialog<{ decision: Decision; entries: readonly WaitlistEntry[] }>((asked) => (
    <DecideDialog
      {...asked}
      applicationId={application.id}
      onDone={({ states }) => {
        setChosen(new Set());
        list.change((items) => settled(items, states, filters.status));
        void onDecided();
      }}
    />
  ));
  useEffect(() => setChosen(new Set()), [filters.status]);
  const chosenEntries = (list.items ?? []).filter(({ id }) => chosen.has(id));
  const decide = (kind: Decision, ...entries: WaitlistEntry[]) => decision.open({ decision: kind, entries });
  const menuOf = useCallback(
    (entry: WaitlistEntry) => (
      <Menu label={`Actions for ${entry.email}`}>
        {entry.status !== 'approved' && <MenuEntry onClick={() => decide('approve', entry)}>Approve</MenuEntry>}
        {entry.status !== 'notify_when_public' && (
          <MenuEntry onClick={() => decide('soft_decline', entry)}>Decline</MenuEntry>
        )}
        {entry.status !== 'declined' && (
          <MenuEntry onClick={() => decide('decline', entry)}>Refuse without a word</MenuEntry>
        )}
        <MenuEntry isDanger onClick={() => decide('remove', entry)}>
          Remove
        </MenuEntry>
      </Menu>
    ),
    [],
  );

  return (
    <section class="allowlist" aria-labelledby="allowlist-title">
      <header class="section-head">
        <h2 id="allowlist-title">Allowlist</h2>
        {add}
      </header>
      <StatusTabs application={application} status={filters.status} counts={counts} />
      {chosenEntries.length > 0 && (
        <div class="selection" id="selection" role="toolbar" aria-label="Actions for the chosen addresses">
          <strong role="status">{counted(chosenEntries.length, 'address', 'addresses')} chosen</strong>
          <Action onClick={() => decide('approve', ...chosenEntries)}>Approve</Action>
          <Action onClick={() => decide('soft_decline', ...chosenEntries)}>Decline</Action>
          <Action onClick={() => decide('decline', ...chosenEntries)}>Refuse without a word</Action>
          <Action onClick={() => decide('remove', ...chosenEntries)}>Remove</Action>
          <Action needs="nothing" onClick={() => setChosen(new Set())}>
            Choose none
          </Action>
        </div>
      )}
      {canWrite ? (
        <DataTable
          id="allowlist"
          label="Allowlist"
          list={list}
          columns={COLUMNS}
          keyOf={({ id }) => id}
          chosen={chosen}
          onChoose={setChosen}
          menuOf={menuOf}
          empty={
            filters.status ? (
              <Empty title="No request has this status" />
            ) : (
              <Empty title="Nobody is on the allowlist yet" action={emptyButton}>
                While the application is a private beta, people who are not on it can request access, and appear here.
                You can add addresses yourself at any time.
              </Empty>
            )
          }
        />
      ) : (
        <p class="note" id="allowlist-hidden">
          Only admins and owners see who is on the allowlist: these people have not signed in yet.
        </p>
      )}
      {creation}
      {decision.dialog}
    </section>
  );
}

interface StatusTabsProps extends ApplicationViewProps {
  readonly status: string | undefined;
  readonly counts: Schemas['BetaCounts'] | null;
}

function StatusTabs({ application, status, counts }: StatusTabsProps) {
  const [path] = useLocation();
  const tabs = useTabInView(status);
  const all = counts && counts.pending + counts.approved + counts.notifyWhenPublic + counts.declined;
  const states = [
    { value: undefined, title: 'All', many: all },
    { value: 'pending', title: BETA_STATUSES.pending.title, many: counts?.pending },
    { value: 'approved', title: BETA_STATUSES.approved.title, many: counts?.approved },
    { value: 'notify_when_public', title: BETA_STATUSES.notify_when_public.title, many: counts?.notifyWhenPublic },
    { value: 'declined', title: BETA_STATUSES.declined.title, many: counts?.declined },
  ];
  return (
    <nav class="tabs view-tabs" id="status-tabs" aria-label={`Allowlist of ${application.name} by state`} ref={tabs}>
      {states.map(({ value, title, many }) => (
        <Link
          key={title}
          href={value === undefined ? path : `${path}?status=${value}`}
          aria-current={status === value ? 'page' : undefined}
        >
          {title}
          {many !== null && many !== undefined && <span class="badge-count">{count(many)}</span>}
        </Link>
      ))}
    </nav>
  );
}
