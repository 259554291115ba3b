/** Generates a Grafana dashboard over the metrics of `/metrics`, most important panels first. */

type Query = readonly [expression: string, legend: string];

interface PanelSpec {
  readonly title: string;
  readonly unit: string;
  readonly queries: readonly Query[];
  readonly isStat?: true;
  readonly badFrom?: number;
}

const OF = 'instance=~"$instance"';

const rate = (name: string, by: string, more = '') => `sum by (${by}) (rate(${name}{${OF}${more}}[$__rate_interval]))`;
const quantile = (part: number, name: string, by = '', more = '') =>
  `histogram_quantile(${part}, sum by (le${by}) (rate(${name}_bucket{${OF}${more}}[$__rate_interval])))`;

function durations(name: string, more = ''): Query[] {
  return [0.5, 0.95, 0.99].map((part) => [quantile(part, name, '', more), `p${part * 100}`]);
}

const REQUESTS = 'gatehouse_http_requests_total';
const REQUEST_TIMES = 'gatehouse_http_request_duration_seconds';

const ROWS: readonly (readonly [title: string, panels: readonly PanelSpec[]])[] = [
  [
    'Is it well?',
    [
      {
        title: 'Takes changes',
        unit: 'bool_yes_no',
        isStat: true,
        queries: [[`min(gatehouse_database_writable{${OF}})`, '']],
      },
      {
        title: 'Up for',
        unit: 's',
        isStat: true,
        queries: [[`min(time() - process_start_time_seconds{${OF}})`, '']],
      },
      {
        title: 'Answers of 5xx',
        unit: 'reqps',
        isStat: true,
        badFrom: 0.1,
        queries: [[`sum(rate(${REQUESTS}{${OF},status=~"5.."}[$__rate_interval])) or vector(0)`, '']],
      },
      {
        title: 'Oldest mail that is due',
        unit: 's',
        isStat: true,
        badFrom: 600,
        queries: [[`max(gatehouse_mails_oldest_due_seconds{${OF},lane!="bulk"})`, '']],
      },
      {
        title: 'Oldest delivery that is due',
        unit: 's',
        isStat: true,
        badFrom: 900,
        queries: [[`max(gatehouse_deliveries_oldest_due_seconds{${OF}})`, '']],
      },
      {
        title: 'Version',
        unit: 'string',
        isStat: true,
        queries: [[`max by (version) (gatehouse_build_info{${OF}})`, '{{version}}']],
      },
    ],
  ],
  [
    'Requests',
    [
      { title: 'Requests by status', unit: 'reqps', queries: [[rate(REQUESTS, 'status'), '{{status}}']] },
      { title: 'Requests by route', unit: 'reqps', queries: [[`topk(10, ${rate(REQUESTS, 'route')})`, '{{route}}']] },
      {
        title: 'How long verifications take',
        unit: 's',
        queries: durations(REQUEST_TIMES, ',route=~"/api/v1/(verify|session)"'),
      },
      {
        title: 'Slowest routes (p95)',
        unit: 's',
        queries: [[`topk(10, ${quantile(0.95, REQUEST_TIMES, ', route')})`, '{{route}}']],
      },
      {
        title: 'Verdicts',
        unit: 'ops',
        queries: [[rate('gatehouse_verdicts_total', 'endpoint, outcome'), '{{endpoint}} {{outcome}}']],
      },
      {
        title: 'Sign-ins',
        unit: 'ops',
        queries: [[rate('gatehouse_sign_ins_total', 'method, outcome'), '{{method}} {{outcome}}']],
      },
      {
        title: 'Refused by limits',
        unit: 'ops',
        queries: [[rate('gatehouse_rate_limit_refusals_total', 'limit'), '{{limit}}']],
      },
      {
        title: 'Held open',
        unit: 'short',
        queries: [
          [`sum by (kind) (gatehouse_streams_open{${OF}})`, 'streams: {{kind}}'],
          [`sum(gatehouse_http_requests_in_flight{${OF}})`, 'requests in flight'],
        ],
      },
    ],
  ],
  [
    'What waits',
    [
      {
        title: 'Mails that wait',
        unit: 'short',
        queries: [[`sum by (lane) (gatehouse_mails_waiting{${OF}})`, '{{lane}}']],
      },
      { title: 'Attempts at mails', unit: 'ops', queries: [[rate('gatehouse_mails_total', 'outcome'), '{{outcome}}']] },
      {
        title: 'Deliveries that wait',
        unit: 'short',
        queries: [[`sum by (state) (gatehouse_deliveries_waiting{${OF}})`, '{{state}}']],
      },
      {
        title: 'Attempts at deliveries',
        unit: 'ops',
        queries: [[rate('gatehouse_delivery_attempts_total', 'outcome'), '{{outcome}}']],
      },
      {
        title: 'Rows of long work that are left',
        unit: 'short',
        queries: [[`sum by (kind) (gatehouse_long_work_rows_left{${OF}})`, '{{kind}}']],
      },
      {
        title: 'Rows of imports',
        unit: 'ops',
        queries: [[rate('gatehouse_imported_rows_total', 'outcome'), '{{outcome}}']],
      },
    ],
  ],
  [
    'Database',
    [
      {
        title: 'Changes',
        unit: 'ops',
        queries: [
          [`sum(rate(gatehouse_database_changes_total{${OF}}[$__rate_interval]))`, 'committed'],
          [`sum(gatehouse_database_changes_waiting{${OF}})`, 'waiting'],
        ],
      },
      { title: 'How long flushes take', unit: 's', queries: durations('gatehouse_database_flush_duration_seconds') },
      {
        title: 'How long transactions take',
        unit: 's',
        queries: durations('gatehouse_database_transaction_duration_seconds'),
      },
      {
        title: 'Flushes refused, slow statements',
        unit: 'short',
        queries: [
          [`sum(increase(gatehouse_database_flush_failures_total{${OF}}[$__rate_interval]))`, 'flushes refused'],
          [`sum(increase(gatehouse_database_slow_statements_total{${OF}}[$__rate_interval]))`, 'slow statements'],
        ],
      },
      {
        title: 'Size',
        unit: 'bytes',
        queries: [
          [`sum(gatehouse_database_bytes{${OF}})`, 'database'],
          [`sum(gatehouse_database_wal_bytes{${OF}})`, 'log'],
        ],
      },
      {
        title: 'Left on the disk',
        unit: 'bytes',
        queries: [[`min(gatehouse_database_disk_free_bytes{${OF}})`, 'free']],
      },
    ],
  ],
  [
    'Process',
    [
      { title: 'How late the loop comes', unit: 's', queries: durations('gatehouse_event_loop_delay_seconds') },
      {
        title: 'CPU',
        unit: 'percentunit',
        queries: [[`sum(rate(process_cpu_seconds_total{${OF}}[$__rate_interval]))`, 'CPU']],
      },
      { title: 'Memory', unit: 'bytes', queries: [[`sum(process_resident_memory_bytes{${OF}})`, 'resident']] },
      {
        title: 'File descriptors',
        unit: 'short',
        queries: [
          [`sum(process_open_fds{${OF}})`, 'open'],
          [`sum(process_max_fds{${OF}})`, 'allowed'],
        ],
      },
    ],
  ],
];

const SOURCE = { type: 'prometheus', uid: '${datasource}' };
const [WIDTH, ROW_HEIGHT, STAT_HEIGHT, GRAPH_HEIGHT] = [24, 1, 4, 8];

/** Returns the dashboard; deterministic for one build. */
export function grafana(): string {
  const panels: object[] = [];
  let y = 0;
  for (const [title, specs] of ROWS) {
    panels.push({
      type: 'row',
      title,
      collapsed: false,
      gridPos: { x: 0, y, w: WIDTH, h: ROW_HEIGHT },
      panels: [],
      id: panels.length + 1,
    });
    y += ROW_HEIGHT;
    const isStats = specs[0]?.isStat === true;
    const [w, h] = isStats ? [WIDTH / specs.length, STAT_HEIGHT] : [WIDTH / 2, GRAPH_HEIGHT];
    const perLine = WIDTH / w;
    for (const [index, spec] of specs.entries()) {
      const place = { x: (index % perLine) * w, y: y + Math.floor(index / perLine) * h, w, h };
      panels.push({ id: panels.length + 1, gridPos: place, ...panel(spec) });
    }
    y += Math.ceil(specs.length / perLine) * h;
  }
  return `${JSON.stringify({ ...DASHBOARD, panels }, null, 2)}\n`;
}

function panel({ title, unit, queries, isStat, badFrom }: PanelSpec): object {
  const steps = [{ color: 'green', value: null }, ...(badFrom === undefined ? [] : [{ color: 'red', value: badFrom }])];
  // A version is a label of a metric that is always 1, so the panel shows the label.
  const isName = unit === 'string';
  return {
    type: isStat ? 'stat' : 'timeseries',
    title,
    datasource: SOURCE,
    targets: queries.map(([expr, legendFormat], index) => ({
      refId: String.fromCharCode(65 + index),
      datasource: SOURCE,
      expr,
      legendFormat,
      ...(isStat && { instant: true }),
    })),
    fieldConfig: { defaults: { unit, min: 0, thresholds: { mode: 'absolute', steps } }, overrides: [] },
    options: isStat
      ? { reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false }, textMode: isName ? 'name' : 'value' }
      : { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
  };
}

const DASHBOARD = {
  uid: 'gatehouse',
  title: 'Gatehouse',
  tags: ['gatehouse'],
  schemaVersion: 39,
  editable: true,
  refresh: '30s',
  time: { from: 'now-6h', to: 'now' },
  templating: {
    list: [
      { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus', current: {} },
      {
        name: 'instance',
        label: 'Instance',
        type: 'query',
        datasource: SOURCE,
        query: { query: 'label_values(gatehouse_build_info, instance)', refId: 'instances' },
        includeAll: true,
        multi: true,
        current: { text: 'All', value: '$__all' },
        refresh: 2,
      },
    ],
  },
};
