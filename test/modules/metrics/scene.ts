/** An instance whose metrics can be read at the current time. */
import { SECOND } from '@/core/clock.ts';
import { createInstance, type Instance, type InstanceOptions } from '../../support/instance.ts';
import { eventually } from '../../support/eventually.ts';
import { type ReadFigures, readExposition } from '../../support/exposition.ts';

export const TOKEN = 'scrape-me-if-you-can';

export function watched({ environment, ...options }: InstanceOptions = {}): Promise<Instance> {
  return createInstance({ ...options, environment: { GATEHOUSE_METRICS_TOKEN: TOKEN, ...environment } });
}

/** Queues are counted every few seconds, so the clock moves past that. A scrape does not wait for a slow count. */
export async function look(instance: Instance): Promise<ReadFigures> {
  instance.clock.advance(6 * SECOND);
  return eventually('the queues are counted', async () => {
    const { status, text } = await instance.call('GET', '/metrics', { token: TOKEN });
    if (status !== 200) throw new Error(`/metrics answered ${status}: ${text}`);
    const figures = readExposition(text);
    const isAway = figures.value('gatehouse_database_writable') === 0;
    return isAway || figures.value('gatehouse_queues_counted_age_seconds') === 0 ? figures : null;
  });
}

/** Returns the growth of a metric during an action. */
export async function grown(
  instance: Instance,
  name: string,
  labels: Record<string, string>,
  act: () => Promise<unknown>,
): Promise<number> {
  const before = (await look(instance)).value(name, labels) ?? 0;
  await act();
  return ((await look(instance)).value(name, labels) ?? NaN) - before;
}
