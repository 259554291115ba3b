/** Tables that stay behind when an instance is moved, and why: no row of theirs is missed. */
export const UNMOVED_TABLES: Readonly<Record<string, string>> = {
  address_search: 'triggers of the target enter each address, and the next server indexes them',
  member_search: 'triggers of the target enter each member, and the next server indexes them',
  rate_counters: 'rate limits begin anew',
  work_leases: 'jobs are taken up by the next server',
  instances: 'servers enter themselves',
};
