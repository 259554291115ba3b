/** Overview of an application: the first steps, then its statistics. */
import { useEffect } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { Select } from '../../../pages/components/select-field.tsx';
import { addresses, useFilters } from '../../address.ts';
import { api, ask, type Schemas } from '../../api.ts';
import { Chart, useChartPreload } from '../../components/chart.tsx';
import { FailureNote } from '../../components/failure-note.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Panel } from '../../components/panel.tsx';
import { RankingPanel } from '../../components/ranking.tsx';
import { Tile } from '../../components/tile.tsx';
import { capitalised } from '../../components/format.ts';
import { useLoaded } from '../../data.ts';
import { useLiveEvents } from '../../shell/live.tsx';
import type { ApplicationViewProps } from '../../application-view.ts';
import { methodInWords, reasonInWords } from '../activity/kinds.ts';
import { countedSince } from './counted-since.ts';
import { FirstSteps } from './first-steps.tsx';
import { LIMIT_WORDS } from './limit-words.ts';

const RANGES = ['7', '30', '90', '365'];
/** Pause after an event before the statistics are read again: counts are written every 5 s. */
const COUNTED_MS = 6000;
const TILES = 8;

export function Overview({ application }: ApplicationViewProps) {
  const [filters, setFilters] = useFilters(['days']);
  const days = RANGES.includes(filters.days ?? '') ? Number(filters.days) : 30;
  return (
    <>
      <PageHead
        title={application.name}
        lead="Changes are against the same time before, up to the same hour. Days are UTC; today is dashed."
        actions={
          <Select
            id="range"
            label="Time range"
            isSmall
            value={String(days)}
            choices={RANGES.map((value) => ({ value, label: value === '365' ? 'Last year' : `Last ${value} days` }))}
            onChoose={(value) => setFilters({ days: value === '30' ? undefined : value })}
          />
        }
      />
      <FirstSteps application={application}>
        <Statistics application={application} days={days} />
      </FirstSteps>
    </>
  );
}

interface StatisticsProps extends ApplicationViewProps {
  readonly days: number;
}

function Statistics({ application, days }: StatisticsProps) {
  useChartPreload();
  const path = { id: application.id };
  const stats = useLoaded(
    () => ask(api.GET('/api/applications/{id}/stats', { params: { path, query: { days } } })),
    [application.id, days],
  );
  useLiveEvents(COUNTED_MS, stats.reload);
  // Includes what came just before the view was opened.
  useEffect(() => {
    const timer = setTimeout(stats.reload, COUNTED_MS);
    return () => clearTimeout(timer);
  }, [application.id]);
  if (stats.data) return <Numbers application={application} stats={stats.data} days={days} />;
  if (stats.failure) return <FailureNote failure={stats.failure} onRetry={stats.reload} />;
  return <TilesSkeleton />;
}

function TilesSkeleton() {
  return (
    <div class="stats" aria-hidden="true">
      {Array.from({ length: TILES }, (_, index) => (
        <div class="stat" key={index}>
          <div class="skeleton" />
        </div>
      ))}
    </div>
  );
}

/** Returns the filters of the activity that show what was refused for a reason. */
function refusalsOf(reason: string, from: string): string {
  const of =
    reason === 'code_invalid'
      ? { family: 'signin.code_refused' }
      : { family: 'signin.refused', ...(reason !== 'other' && { reason }) };
  return new URLSearchParams({ status: 'error', ...of, from: `${from}T00:00:00.000Z` }).toString();
}

interface NumbersProps extends StatisticsProps {
  readonly stats: Schemas['Stats'];
}

function Numbers({ application, stats, days }: NumbersProps) {
  const { totals, activeUsers, activeSessions, users } = stats;
  const before = `in the ${days} days before`;
  const dates = stats.days.map(({ date }) => date);
  const of = (key: 'signIns' | 'newUsers' | 'activeUsers' | 'refusals') => stats.days.map((day) => day[key]);
  const tiles = [
    { label: 'Sign-ins', of: totals.signIns, before },
    { label: 'New users', of: totals.newUsers, before },
    { label: 'Refused', of: totals.refusals, before, isTrouble: true },
    { label: 'Users in total', of: { count: users.total } },
    { label: 'Active today', of: activeUsers.day, before: 'yesterday' },
    { label: 'Active, 7 days', of: activeUsers.week, before: 'in the 7 days before' },
    { label: 'Active, 30 days', of: activeUsers.month, before: 'in the 30 days before' },
    {
      label: 'Sessions used, 7 days',
      of: activeSessions.week,
      before: 'in the 7 days before',
      note: countedSince(activeSessions.since, { today: stats.to, days: 7 }),
    },
  ];
  return (
    <>
      <dl class="stats" id="numbers">
        {tiles.map((tile) => (
          <Tile key={tile.label} {...tile} />
        ))}
      </dl>
      <div class="panels">
        <Panel title="Sign-ins and refusals per day">
          <Chart
            id="sign-ins"
            label="Sign-ins and refusals per day"
            times={dates}
            series={[
              { name: 'Sign-ins', values: of('signIns') },
              { name: 'Refused', values: of('refusals') },
            ]}
          />
        </Panel>
        <Panel title="Active and new users per day">
          <Chart
            id="users"
            label="Active and new users per day"
            times={dates}
            series={[
              { name: 'Active', values: of('activeUsers') },
              { name: 'New', values: of('newUsers') },
            ]}
          />
        </Panel>
        <RankingPanel
          title="How people signed in"
          label="Sign-ins by method"
          none="Nobody has signed in during this time."
          of={stats.signInsByMethod.map(({ method, count }) => ({ key: method, label: methodInWords(method), count }))}
        />
        <RankingPanel
          title="Why people were refused"
          label="Refusals by reason"
          none="Nobody was refused during this time."
          of={stats.refusalsByReason.map(({ reason, count }) => ({
            key: reason,
            label: (
              <Link href={`${addresses.application(application.id, 'activity')}?${refusalsOf(reason, stats.from)}`}>
                {capitalised(reasonInWords(reason).replaceAll('_', ' '))}
              </Link>
            ),
            count,
          }))}
        />
        <RankingPanel
          title="Webhooks"
          action={<Link href={addresses.application(application.id, 'webhooks')}>All webhooks</Link>}
          label="Deliveries"
          none="No event was delivered during this time."
          of={[
            { key: 'delivered', label: 'Delivered', count: stats.webhooks.delivered },
            { key: 'failed', label: 'Failed attempts', count: stats.webhooks.failedAttempts },
          ].filter((entry) => entry.count > 0)}
        />
        <RankingPanel
          title="Rate limits reached"
          label="Calls refused by a limit"
          none="No call reached a limit during this time."
          of={stats.limits.map(({ limit, count }) => ({ key: limit, label: LIMIT_WORDS[limit] ?? limit, count }))}
        />
      </div>
    </>
  );
}
