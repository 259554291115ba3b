/** An instance whose metrics can be read at the current time. */
import { SECOND } from '@/core/clock.ts';
import { createInstance, type Instance, type InstanceOptions } from '../../support/instance.ts';
import { type ReadFigures, readExposition } from '../../support/exposition.ts';

export const TOKEN = 'scrape-me-if-you-can';

export function watched({ environment, ...options }: InstanceOptions = {}): Promise<Instance> {
  return createInstance({ ...options, environment: { GATEHOUSE_METRICS_TOKEN: TOKEN, ...environment } });
}

/** Queues are counted every few seconds, so the clock moves past that. */
export async function look(instance: Instance): Promise<ReadFigures> {
  instance.clock.advance(6 * SECOND);
  const { status, text } = await instance.call('GET', '/metrics', { token: TOKEN });
  if (status !== 200) throw new Error(`/metrics answered ${status}: ${text}`);
  return readExposition(text);
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
