/** Looks up an address's country in the registries' allocations, a table of 7.5 MiB inside the binary. */
import { readFileSync } from 'node:fs';
import tablePath from '@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb' with { type: 'file' };
import { type CountryResponse, Reader } from 'mmdb-lib';
import { countryCode } from '../core/country.ts';
import { isPublicAddress } from '../core/ip-address.ts';

/** Returns the ISO 3166-1 code of an address's country, or null where there is none. */
export type CountryOf = (ip: string) => string | null;

let table: Reader<CountryResponse> | undefined;

/** Reads the table at the first call, which takes some milliseconds. @param ip in canonical form. */
export const countryOfAddress: CountryOf = (ip) => {
  // For their reserved ranges the registries list the country of their own offices.
  if (!isPublicAddress(ip)) return null;
  table ??= new Reader(readFileSync(tablePath));
  // This table's entries are flatter than the reader's type.
  const entry = table.get(ip) as { readonly country_code?: string } | null;
  return entry?.country_code === undefined ? null : countryCode(entry.country_code);
};
