/** Activity of an application or workspace: newest first, filtered, with live updates. */
import { Download, RefreshCw } from 'lucide';
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
import { useListed } from '../../data.ts';
import type { ApplicationViewProps } from '../../application-view.ts';
import { useConsole } from '../../console-context.tsx';
import { ActivityDetail } from './activity-detail.tsx';
import { ACTIVITY_FILTERS, queryOf } from './activity-filters.ts';
import { ActivityToolbar } from './activity-toolbar.tsx';
import { ExportDialog } from './export-dialog.tsx';
import { Person, Result } from './event-parts.tsx';
import { type AuthEvent, kindInWords } from './kinds.ts';
import { useLiveRows } from './live-rows.ts';
import { activityOfApplication, activityOfWorkspace } from './source.ts';

const PAGE = 50;

/** Shows the activity of the application; without one, of the workspace and all its applications. */
export function Activity({ application }: Partial<ApplicationViewProps>) {
  const { applications, workspace } = useConsole();
  const source = application ? activityOfApplication(application) : activityOfWorkspace(workspace);
  const search = useSearch();
  const [open] = useOpen();
  const [filters, setFilters] = useFilters([...ACTIVITY_FILTERS, 'live']);
  const query = queryOf(filters);
  const fileExport = useDialog(() => <ExportDialog source={source} query={query} />);
  const key = JSON.stringify(query);
  const stored = useListed<AuthEvent>((cursor) => source.list({ ...query, cursor, limit: PAGE }), [source.id, key]);
  const isLive = !source.isOfMany && filters.live !== 'off';
  const list = useLiveRows(stored, query, isLive);
  const isFiltered = Object.keys(query).length > 0;
  const nameOf = (id: string | null) => applications.find((application) => application.id === id)?.name ?? null;

  const columns: readonly (Column<AuthEvent> | false)[] = [
    {
      key: 'what',
      title: 'What',
      render: ({ kind }) => (
        <>
          {kindInWords(kind)}{' '}
          <code class="muted" data-extra="">
            {kind}
          </code>
        </>
      ),
    },
    { key: 'result', title: 'Result', render: (event) => <Result of={event} /> },
    source.isOfMany && {
      key: 'application',
      title: 'Application',
      render: ({ applicationId }) => <span dir="auto">{nameOf(applicationId) ?? '–'}</span>,
      isExtra: true,
    },
    { key: 'who', title: 'About', render: (event) => <Person of={event} />, isExtra: true },
    !source.isOfMany && {
      key: 'from',
      title: 'From',
      render: ({ ip, ipCountry }) => [ipCountry, ip].filter(Boolean).join(' · ') || '–',
      isExtra: true,
    },
    { key: 'when', title: 'When', render: ({ createdAt }) => <Time at={createdAt} /> },
  ];

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
            <ActivityToolbar filters={filters} onChange={setFilters} canBeLive={!source.isOfMany} />
            <DataTable
              id="activity"
              label="Activity"
              list={list}
              columns={columns.filter((column) => column !== false)}
              keyOf={({ id }) => id}
              hrefOf={({ id }) => withSearch(source.address(id), search)}
              open={open}
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

const NO_FILTERS = Object.fromEntries(ACTIVITY_FILTERS.map((name) => [name, undefined]));
