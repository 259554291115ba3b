/** Outbox of the workspace for its owners; shows codes when no mail server is set. */
import { Link, useSearch } from 'wouter-preact';
import { addresses, useFilters, useOpen, withSearch } from '../../address.ts';
import { api, ask, type Schemas } from '../../api.ts';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { Empty, NoMatch } from '../../components/empty.tsx';
import { FilterFields, SearchField } from '../../components/filters.tsx';
import { ListDetail } from '../../components/list-detail.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { useListed } from '../../data.ts';
import { withNewest } from '../../newest.ts';
import { useEvery } from '../../refresh.ts';
import { useRights, useConsole } from '../../console-context.tsx';
import { useHealth } from '../health/use-health.ts';
import { MailDetail } from './mail-detail.tsx';
import { KIND_WORDS, STATE_WORDS } from './mail-words.ts';

type Mail = Schemas['OutboxMail'];

const PAGE_SIZE = 50;
const EVERY_MS = 4000;

const STATES = Object.keys(STATE_WORDS) as Mail['status'][];
const STATUS = {
  name: 'status',
  id: 'outbox-status',
  label: 'Status',
  any: 'Any status',
  choices: STATES.map((value) => ({ value, label: STATE_WORDS[value].title })),
} as const;

const COLUMNS: readonly Column<Mail>[] = [
  { key: 'to', title: 'To', render: ({ to }) => to },
  {
    key: 'subject',
    title: 'Subject',
    render: ({ subject }) =>
      subject === null ? <span class="muted">Not shown</span> : <span dir="auto">{subject}</span>,
  },
  { key: 'kind', title: 'Kind', render: ({ lane }) => KIND_WORDS[lane], isExtra: true },
  {
    key: 'status',
    title: 'Status',
    render: ({ status }) => <Status tone={STATE_WORDS[status].tone}>{STATE_WORDS[status].title}</Status>,
    isExtra: true,
  },
  { key: 'when', title: 'When', render: ({ createdAt }) => <Time at={createdAt} />, isExtra: true },
];

const LEAD = 'Mails sent for this workspace and its applications. New ones appear automatically.';

export function Outbox() {
  const { isOwner } = useRights();
  const { workspace } = useConsole();
  if (isOwner) return <Mails />;
  return (
    <>
      <PageHead title="Outbox" lead={LEAD} />
      <Empty title="Only owners read the outbox">
        Mails contain codes, and anybody who reads a code can act as the person it was sent to. An owner of{' '}
        <span dir="auto">{workspace.name}</span> can look here for you, or make you an owner.
      </Empty>
    </>
  );
}

function Mails() {
  const { workspace } = useConsole();
  const search = useSearch();
  const [open] = useOpen();
  const [filters, setFilters] = useFilters(['status', 'q']);
  const status = STATES.find((state) => state === filters.status);
  const isFiltered = status !== undefined || filters.q !== undefined;

  const list = useListed<Mail>(
    (cursor) =>
      ask(
        api.GET('/api/workspace/outbox', {
          params: {
            query: { workspaceId: workspace.id, status, q: filters.q, cursor, limit: PAGE_SIZE },
          },
        }),
      ),
    [workspace.id, status, filters.q],
  );
  useEvery(EVERY_MS, () => list.renew(withNewest));

  return (
    <>
      <PageHead title="Outbox" lead={LEAD} />
      <WithoutMailServer />
      <div class="toolbar">
        <SearchField
          id="outbox-q"
          label="Search by recipient"
          value={filters.q ?? ''}
          opensIds
          onSearch={(q) => setFilters({ q }, true)}
        />
        <FilterFields of={[STATUS]} filters={filters} onChange={setFilters} />
      </div>
      <ListDetail
        list={
          <DataTable
            id="outbox"
            label="Mails"
            list={list}
            columns={COLUMNS}
            keyOf={({ id }) => id}
            hrefOf={({ id }) => withSearch(addresses.workspace(workspace.id, 'outbox', id), search)}
            open={open}
            empty={
              isFiltered ? (
                <NoMatch
                  title="No such mail"
                  clearText="Show all mails"
                  onClear={() => setFilters({ status: undefined, q: undefined })}
                >
                  No mail matches these filters.
                </NoMatch>
              ) : (
                <Empty title="No mails yet">
                  Codes, invitations and notices appear here as soon as they are created.
                </Empty>
              )
            }
          />
        }
        detail={
          open !== undefined && (
            <MailDetail
              key={open}
              mailId={open}
              closeTo={withSearch(addresses.workspace(workspace.id, 'outbox'), search)}
            />
          )
        }
      />
    </>
  );
}

function WithoutMailServer() {
  const { workspace } = useConsole();
  const { data } = useHealth();
  if (data?.mail.transport !== 'outbox') return null;
  return (
    <p class="note in-view" id="no-mail-server">
      This instance has no mail server: mails stay here and reach nobody. Open one to read its code, and pass it on to
      the person it is for. <Link href={addresses.workspace(workspace.id, 'health')}>See how mail is set up</Link>
    </p>
  );
}
