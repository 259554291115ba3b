/** The country of an address by the registries' own allocations: a table of 7.5 MiB inside the binary. */
import { readFileSync } from 'node:fs';
import tablePath from '@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb' with { type: 'file' };
import { type CountryResponse, Reader } from 'mmdb-lib';
import { countryCode } from '../core/country.ts';
import { isPublicAddress } from '../core/ip-address.ts';

/** @returns the code of ISO 3166-1, or null where there is none. */
export type CountryOf = (ip: string) => string | null;

let table: Reader<CountryResponse> | undefined;

/** The table is read, in some milliseconds, at the first question. @param ip in its one spelling. */
export const countryOfAddress: CountryOf = (ip) => {
  // The registries say of their own reserved ranges where their offices are.
  if (!isPublicAddress(ip)) return null;
  table ??= new Reader(readFileSync(tablePath));
  // This table is flatter than what the reader is typed for.
  const entry = table.get(ip) as { readonly country_code?: string } | null;
  return entry?.country_code === undefined ? null : countryCode(entry.country_code);
};
