/** Tables that stay behind when an instance is moved: their rows concern the processes that serve it, for minutes. */
export const UNMOVED_TABLES: Readonly<Record<string, string>> = {
  rate_counters: 'rate limits begin anew',
  work_leases: 'jobs are taken up by the next server',
  instances: 'servers enter themselves',
};
