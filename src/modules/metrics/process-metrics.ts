/** Process metrics under Prometheus' standard names, and the event loop delay. */
import { readdir, readFile } from 'node:fs/promises';
import { type WorldClock, SECOND } from '../../core/clock.ts';
import { histogramOf, type Metrics } from '../../core/metrics.ts';

const DESCRIPTORS = '/proc/self/fd';
const LIMITS_FILE = '/proc/self/limits';
const MICROSECONDS = 1e6;

/** Seconds. */
const DELAY_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
const LOOK_EVERY_MS = 50;

export function processMetrics(metrics: Metrics, clock: Pick<WorldClock, 'real'>): void {
  const startedAt = clock.real() / SECOND - process.uptime();
  const cpu = (name: string, help: string, read: (usage: NodeJS.CpuUsage) => number) =>
    metrics.add({
      name,
      help,
      type: 'counter',
      read: () => [{ labels: {}, value: read(process.cpuUsage()) / MICROSECONDS }],
    });
  cpu('process_cpu_user_seconds_total', 'CPU time in the program.', ({ user }) => user);
  cpu('process_cpu_system_seconds_total', 'CPU time in the kernel.', ({ system }) => system);
  cpu('process_cpu_seconds_total', 'CPU time.', ({ user, system }) => user + system);
  metrics.gauge('process_resident_memory_bytes', 'Memory in use.', () => process.memoryUsage.rss());
  metrics.gauge('process_start_time_seconds', 'Start time of the process, in seconds since 1970.', () => startedAt);
  // Not every system has /proc.
  metrics.gauge('process_open_fds', 'Open file descriptors, one for each connection.', () =>
    readdir(DESCRIPTORS).then(
      ({ length }) => length,
      () => null,
    ),
  );
  let most: Promise<number | null> | undefined;
  metrics.gauge('process_max_fds', 'Maximum number of open file descriptors.', () => (most ??= mostDescriptors()));
}

async function mostDescriptors(): Promise<number | null> {
  const text = await readFile(LIMITS_FILE, 'utf8').catch(() => '');
  const [, soft] = /^Max open files\s+(\d+|unlimited)/m.exec(text) ?? [];
  if (soft === undefined) return null;
  return soft === 'unlimited' ? Infinity : Number(soft);
}

/** Measures the event loop delay 20 times a second: how much later than due a timer fires. */
export function loopDelay(metrics: Metrics): { start(): void; stop(): void } {
  const delays = histogramOf(DELAY_BOUNDS);
  let timer: Timer | undefined;
  metrics.histogram(
    'gatehouse_event_loop_delay_seconds',
    'Event loop delay: how much later than due a timer fires.',
    delays,
  );
  return {
    start() {
      let wokenAt = performance.now();
      timer ??= setInterval(() => {
        const now = performance.now();
        delays.observe(Math.max(0, now - wokenAt - LOOK_EVERY_MS) / 1000);
        wokenAt = now;
      }, LOOK_EVERY_MS).unref();
    },
    stop() {
      clearInterval(timer);
      timer = undefined;
    },
  };
}
