/** Activity of an application or workspace: newest first, filtered, with live updates. */
import { Download, RefreshCw } from 'lucide';
import { useCallback, useMemo, useRef } from 'preact/hooks';
import { useSearch } from 'wouter-preact';
import { Icon } from '../../../pages/components/icon.tsx';
import { useFilters, useOpen, withSearch } from '../../address.ts';
import { Action } from '../../components/action.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { Empty, NoMatch } from '../../components/empty.tsx';
import { ListDetail } from '../../components/list-detail.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Time } from '../../components/time.tsx';
import { useDialog } from '../../components/use-dialog.tsx';
import { useNarrow } from '../../components/use-narrow.ts';
import { useListed } from '../../data.ts';
import type { ApplicationViewProps } from '../../application-view.ts';
import { useConsole } from '../../console-context.tsx';
import { LiveProvider } from '../../shell/live.tsx';
import { ActivityDetail } from './activity-detail.tsx';
import { ACTIVITY_FILTERS, queryOf } from './activity-filters.ts';
import { ActivityToolbar } from './activity-toolbar.tsx';
import { ExportDialog } from './export-dialog.tsx';
import { EventMenu } from './event-menu.tsx';
import { NarrowEvent, What, WhoOfLink } from './event-row.tsx';
import type { AuthEvent } from './kinds.ts';
import { useLiveRows } from './live-rows.ts';
import type { Narrowing } from './narrowings.ts';
import { activityOfApplication, type ActivitySource, activityOfWorkspace } from './source.ts';

const PAGE = 50;
/** At most this width a record takes two lines. */
const NARROW_PX = 700;
/** At most this width the address a record came from is left to its detail. */
const ROOMY_PX = 1100;

/** Shows the activity of the application; without one, of the workspace and all its applications. */
export function Activity({ application }: Partial<ApplicationViewProps>) {
  const { workspace, applications } = useConsole();
  if (application) return <ActivityList source={activityOfApplication(application)} />;
  const source = activityOfWorkspace(workspace, applications);
  return (
    <LiveProvider path={source.events}>
      <ActivityList source={source} />
    </LiveProvider>
  );
}

function ActivityList({ source }: { readonly source: ActivitySource }) {
  const search = useSearch();
  const [open] = useOpen();
  const [filters, setFilters] = useFilters([...ACTIVITY_FILTERS, 'live']);
  const query = queryOf(filters);
  const fileExport = useDialog(() => <ExportDialog source={source} query={query} />);
  const key = JSON.stringify(query);
  const stored = useListed<AuthEvent>((cursor) => source.list({ ...query, cursor, limit: PAGE }), [source.id, key]);
  const isLive = filters.live !== 'off';
  const list = useLiveRows(stored, query, isLive);
  const isFiltered = Object.keys(query).length > 0;
  const isNarrow = useNarrow(NARROW_PX);
  const hasRoom = !useNarrow(ROOMY_PX) || source.isOfMany;
  const columns = useColumns({ isOfMany: source.isOfMany, isNarrow, hasOrigin: hasRoom && !open });
  const narrow = useRef<(narrowing: Narrowing) => void>(() => {});
  narrow.current = ({ filter, value }) => setFilters({ [filter]: value });
  const menuOf = useCallback((event: AuthEvent) => <EventMenu of={event} onNarrow={(to) => narrow.current(to)} />, []);

  return (
    <>
      <PageHead
        title={source.isOfMany ? 'Workspace activity' : 'Activity'}
        lead={source.lead}
        actions={
          <>
            {!isLive && (
              <Action
                id="reload"
                needs="nothing"
                icon={<Icon of={RefreshCw} size={16} />}
                onClick={() => stored.reload()}
              >
                Reload
              </Action>
            )}
            <Action id="export" needs="nothing" icon={<Icon of={Download} size={16} />} onClick={fileExport.open}>
              Export
            </Action>
          </>
        }
      />
      <ListDetail
        list={
          <>
            <ActivityToolbar
              applicationIds={source.applicationIds}
              filters={filters}
              events={list.items ?? []}
              onChange={setFilters}
            />
            <DataTable
              id="activity"
              label="Activity"
              list={list}
              columns={columns}
              keyOf={({ id }) => id}
              hrefOf={({ id }) => withSearch(source.address(id), search)}
              open={open}
              {...(!isNarrow && { menuOf })}
              empty={
                isFiltered ? (
                  <NoMatch
                    title="Nothing matches these filters"
                    clearText="Clear the filters"
                    onClear={() => setFilters(NO_FILTERS)}
                  >
                    Older records may have been deleted: the server’s settings say how long they are kept.
                  </NoMatch>
                ) : (
                  <Empty title="Nothing has happened yet">Every sign-in, refusal and change is recorded here.</Empty>
                )
              }
            />
          </>
        }
        detail={
          open && (
            <ActivityDetail
              key={open}
              id={open}
              source={source}
              known={list.items?.find(({ id }) => id === open)}
              closeTo={withSearch(source.address(), search)}
            />
          )
        }
      />
      {fileExport.dialog}
    </>
  );
}

interface Shown {
  readonly isOfMany: boolean;
  readonly isNarrow: boolean;
  /** Whether the application, or the address, has a column. */
  readonly hasOrigin: boolean;
}

function useColumns({ isOfMany, isNarrow, hasOrigin }: Shown): readonly Column<AuthEvent>[] {
  const { applications } = useConsole();
  return useMemo(() => {
    const nameOf = ({ applicationId }: AuthEvent) =>
      isOfMany ? (applications.find(({ id }) => id === applicationId)?.name ?? null) : null;
    if (isNarrow)
      return [
        {
          key: 'event',
          title: 'Who did what',
          render: (event) => <NarrowEvent of={event} application={nameOf(event)} />,
        },
      ];
    const origin: Column<AuthEvent> = isOfMany
      ? {
          key: 'application',
          title: 'Application',
          render: (event) => <bdi>{nameOf(event) ?? '–'}</bdi>,
          isExtra: true,
        }
      : { key: 'from', title: 'From', render: fromOf, isExtra: true };
    return [
      { key: 'who', title: 'Who', render: (event) => <WhoOfLink of={event} /> },
      { key: 'what', title: 'What', render: (event) => <What of={event} /> },
      ...(hasOrigin ? [origin] : []),
      { key: 'when', title: 'When', render: ({ createdAt }) => <Time at={createdAt} /> },
    ];
  }, [applications, isOfMany, isNarrow, hasOrigin]);
}

const fromOf = ({ ip, ipCountry }: AuthEvent) => [ipCountry, ip].filter(Boolean).join(' · ') || '–';

const NO_FILTERS = Object.fromEntries(ACTIVITY_FILTERS.map((name) => [name, undefined]));
