/** Users of an application: search, details, and single or bulk changes. */
import { useEffect, useState } from 'preact/hooks';
import { useLocation, useSearch } from 'wouter-preact';
import { addresses, useFilters, useOpen, withSearch } from '../../address.ts';
import type { Outcome, Page } from '../../api.ts';
import { findUsers } from '../../find-users.ts';
import { Action } from '../../components/action.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { Empty } from '../../components/empty.tsx';
import { ListDetail } from '../../components/list-detail.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Slugs } from '../../components/slugs.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { dayOf, exactTime } from '../../components/format.ts';
import { useListed } from '../../data.ts';
import { useRights } from '../../console-context.tsx';
import type { ApplicationViewProps } from '../../application-view.ts';
import { useLazyAccess } from '../grants/access.ts';
import { useToast } from '../../../pages/components/toast.tsx';
import { useDialog } from '../../components/use-dialog.tsx';
import { type AddedUser, AddUser } from './add-user.tsx';
import { wordsOf } from './invite-user.tsx';
import { AddressDetail } from './address-detail.tsx';
import { type BulkChange, matchingOf } from './bulk-calls.ts';
import { BulkLine } from './bulk-line.tsx';
import { MatchingBar } from './matching-bar.tsx';
import { SelectionBar } from './selection-bar.tsx';
import { statusOf, type User } from './statuses.ts';
import { UserDetail } from './user-detail.tsx';
import { USER_FILTERS } from './user-filters.ts';
import { UserToolbar } from './user-toolbar.tsx';

const PAGE = 50;
const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

const COLUMNS: readonly Column<User>[] = [
  { key: 'email', title: 'E-mail', render: ({ email }) => <span dir="auto">{email}</span> },
  {
    key: 'name',
    title: 'Name',
    render: ({ profile, username }) => (
      <span dir="auto">{profile?.fullName ?? (username === null ? '–' : `@${username}`)}</span>
    ),
    isExtra: true,
  },
  {
    key: 'status',
    title: 'Status',
    render: (user) => {
      const { word, tone } = statusOf(user);
      return <Status tone={tone}>{word}</Status>;
    },
  },
  {
    key: 'roles',
    title: 'Roles',
    render: ({ roles }) => (roles.length === 0 ? <span class="muted">–</span> : <Slugs of={roles} shown={2} />),
    isExtra: true,
  },
  { key: 'seen', title: 'Last seen', render: ({ lastSeenAt }) => <Time at={lastSeenAt} />, isExtra: true },
  {
    key: 'joined',
    title: 'Joined',
    render: ({ joinedAt }) => (
      <time dateTime={joinedAt} title={exactTime(joinedAt)}>
        {dayOf(joinedAt)}
      </time>
    ),
    isExtra: true,
  },
];

export function Users({ application }: ApplicationViewProps) {
  const { id } = application;
  const search = useSearch();
  const [, navigate] = useLocation();
  const [open] = useOpen();
  const { canWrite } = useRights();
  const [filters, setFilters] = useFilters(USER_FILTERS);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());

  const [isAll, setIsAll] = useState(false);
  const [started, setStarted] = useState<BulkChange | null>(null);

  const { why } = filters;
  const matching = matchingOf(filters);
  const { q, status, role, membership } = matching;
  const access = useLazyAccess(id, Boolean(role ?? membership));
  const sort = filters.sort === 'joined' ? ('joined' as const) : undefined;
  const query = { ...matching, sort, ...(canWrite && { include: 'profile' }) };
  const key = JSON.stringify(query);
  const list = useListed<User>(
    (cursor): Promise<Outcome<Page<User>>> => findUsers(id, { ...query, cursor, limit: PAGE }),
    [id, key],
  );
  useEffect(() => clearChoice(), [key]);

  const toast = useToast();
  const adding = useDialog(
    () =>
      access.data && <AddUser application={application} access={access.data} onDone={(user) => void onAdded(user)} />,
  );

  async function onAdded({ userId, email, isNew, invitation }: AddedUser): Promise<void> {
    const added = isNew ? `${email} is added.` : `${email} is a user already; nothing of theirs was overwritten.`;
    toast(
      invitation === null ? added : `${added} ${wordsOf(invitation, email)}`,
      invitation === null || invitation.ok ? undefined : 'bad',
    );
    navigate(addresses.application(id, 'users', userId));
    await list.reload();
  }

  const listAddress = withSearch(addresses.application(id, 'users'), withoutWhy(search));
  const shown = list.items ?? [];
  const isAllShown = shown.length > 0 && shown.every(({ userId }) => chosen.has(userId));
  const chosenUsers = shown.filter(({ userId }) => chosen.has(userId));
  const isFiltered = Boolean(q ?? status ?? role ?? membership);
  return (
    <>
      <PageHead
        title="Users"
        lead={
          sort
            ? 'In the order in which they joined.'
            : 'Most recently seen first; imported users who have never signed in come last.'
        }
        actions={
          <>
            <Action id="add-users" needs="nothing" onClick={() => navigate(addresses.application(id, 'import'))}>
              Import or export
            </Action>
            <Action
              id="open-add-user"
              look="primary"
              onClick={() => {
                access.need();
                adding.open();
              }}
            >
              Add user
            </Action>
          </>
        }
      />
      <ListDetail
        list={
          <>
            <UserToolbar filters={filters} access={access} onChange={setFilters} />
            {isAll ? (
              <MatchingBar
                applicationId={id}
                matching={matching}
                access={access}
                onClear={clearChoice}
                onStarted={(change) => {
                  clearChoice();
                  setStarted(change);
                }}
              />
            ) : (
              <SelectionBar
                applicationId={id}
                users={chosenUsers}
                access={access}
                onClear={clearChoice}
                onChanged={list.reload}
                onChooseAll={isAllShown && list.hasMore ? () => setIsAll(true) : undefined}
              />
            )}
            {canWrite && (
              <BulkLine
                key={id}
                applicationId={id}
                isAnyRunning={application.pendingWork?.kind === 'change_users'}
                started={started}
                onEnd={list.reload}
              />
            )}
            <DataTable
              id="users"
              label="Users"
              list={list}
              columns={COLUMNS}
              keyOf={({ userId }) => userId}
              hrefOf={({ userId }) => withSearch(addresses.application(id, 'users', userId), withoutWhy(search))}
              open={open}
              {...(canWrite && {
                chosen: isAll ? new Set(shown.map(({ userId }) => userId)) : chosen,
                onChoose: choose,
              })}
              empty={
                isFiltered ? (
                  <NobodyFound
                    q={q}
                    isAnswered={why !== undefined && why === q}
                    onAsk={(email) => setFilters({ why: email })}
                    onClear={clear}
                  />
                ) : (
                  <Empty
                    title="No users yet"
                    action={
                      <Action look="primary" onClick={() => navigate(addresses.application(id, 'import'))}>
                        Import users
                      </Action>
                    }
                  >
                    Everybody who signs in to {application.name} is listed here. Add them one by one, or import a file.
                  </Empty>
                )
              }
            />
          </>
        }
        detail={
          open ? (
            <UserDetail
              key={open}
              application={application}
              userId={open}
              access={access}
              closeTo={listAddress}
              onChanged={list.reload}
            />
          ) : (
            why && <AddressDetail key={why} application={application} email={why} closeTo={listAddress} />
          )
        }
      />
      {adding.dialog}
    </>
  );

  function choose(keys: ReadonlySet<string>): void {
    setIsAll(false);
    setChosen(keys);
  }

  function clearChoice(): void {
    choose(new Set());
  }

  function clear(): void {
    setFilters({ q: undefined, status: undefined, role: undefined, membership: undefined, why: undefined });
  }
}

interface NobodyFoundProps {
  readonly q: string | undefined;
  /** Whether the explanation is shown next to the list. */
  readonly isAnswered: boolean;
  readonly onAsk: (email: string) => void;
  readonly onClear: () => void;
}

function NobodyFound({ q, isAnswered, onAsk, onClear }: NobodyFoundProps) {
  const isAddress = q !== undefined && EMAIL.test(q);
  return (
    <Empty
      title={isAddress ? `Nobody with the address ${q}` : 'Nobody matches these filters'}
      action={
        <div class="empty-actions">
          {isAddress && !isAnswered && (
            <Action id="ask-why" look="primary" needs="nothing" onClick={() => onAsk(q)}>
              Why can’t {q} sign in?
            </Action>
          )}
          <Action needs="nothing" onClick={onClear}>
            Clear the filters
          </Action>
        </div>
      }
    >
      {isAddress
        ? 'They have never signed in here, or used another address.'
        : 'The search covers e-mail addresses, names, usernames and whole ids, also your external ones. Search for a full e-mail address to find out why it cannot sign in.'}
    </Empty>
  );
}

function withoutWhy(search: string): string {
  const query = new URLSearchParams(search);
  query.delete('why');
  return query.toString();
}
