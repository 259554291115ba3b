/** Checks the source of client countries: a proxy's header, or the embedded table and its age. */
import { DAY } from '../../core/clock.ts';
import { COUNTRY_DATA_AT, COUNTRY_DATA_DAY } from '../../core/country-data.ts';
import { SETTINGS } from '../../settings.ts';
import { type Finding, findingsOf } from './finding.ts';
import type { DoctorContext } from './context.ts';

/** IP ranges change owners constantly, so a table older than a year is unreliable. */
const OLD_MS = 365 * DAY;

export function countryFindings({ given, now }: DoctorContext): Finding[] {
  const { ok, warn } = findingsOf('countries');
  const header = given(SETTINGS.countryHeader.env);
  if (header !== null) return ok(`Read from ${header}, which trusted proxies set.`);
  const table = `Read from the table in the binary, as of ${COUNTRY_DATA_DAY} (NRO, CC BY 4.0)`;
  if (now() - COUNTRY_DATA_AT < OLD_MS) return ok(`${table}.`);
  return warn(
    `${table}: more than a year old, so some are outdated.`,
    `Upgrade Gatehouse, or let a trusted proxy set them (${SETTINGS.countryHeader.env}).`,
  );
}
