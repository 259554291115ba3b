/** Where the table of countries inside the binary comes from, and of which day it is. */
import manifest from '@ip-location-db/geo-whois-asn-country-mmdb/package.json' with { type: 'json' };

/** Epoch milliseconds of the table's day: the last part of its version is the hour in which it was made, `2026061719`. */
export const COUNTRY_DATA_AT: number = (() => {
  const [, year, month, day] = /\.(\d{4})(\d{2})(\d{2})\d{2}$/.exec(manifest.version) ?? [];
  return Date.UTC(Number(year), Number(month) - 1, Number(day));
})();

/** `2026-06-17` */
export const COUNTRY_DATA_DAY: string = new Date(COUNTRY_DATA_AT).toISOString().slice(0, 10);

/** The attribution that the license of the data asks for. */
export const COUNTRY_DATA_NOTICE =
  `Countries of addresses: data of ${COUNTRY_DATA_DAY} of the Number Resource Organization (NRO), https://www.nro.net, ` +
  'licensed under CC BY 4.0 (https://creativecommons.org/licenses/by/4.0/) and merged into one table by ip-location-db ' +
  '(https://github.com/sapics/ip-location-db).';
