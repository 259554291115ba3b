/** Shared by the tests of statistics: a shop, and its statistics once all counts are written. */
import { createInstance, type Instance, type InstanceOptions } from '../../support/instance.ts';

export async function setUp(options?: InstanceOptions) {
  const instance = await createInstance(options);
  const application = await instance.createApplication();
  return { instance, application, stats: () => statsOf(instance, application.id) };
}

/** @param query such as `?days=7`. */
export async function statsOf(
  instance: Instance,
  applicationId: string,
  { query = '', token = instance.workspaceKey }: { query?: string; token?: string } = {},
) {
  await instance.services.flushCounters();
  const { json } = await instance.call('GET', `/api/applications/${applicationId}/stats${query}`, { token });
  return json.data;
}

/** Returns the stored counters by SQL, since no operation reads them individually. */
export function rows({ sqlite }: Instance, applicationId: string): Record<string, number> {
  const found = sqlite
    .query('SELECT metric, label, sum(count) AS count FROM daily_counts WHERE application_id = ? GROUP BY 1, 2')
    .all(applicationId) as { metric: string; label: string; count: number }[];
  return Object.fromEntries(found.map(({ metric, label, count }) => [[metric, label].join(' ').trim(), count]));
}
