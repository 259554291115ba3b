/** Source and date of the country table inside the binary. */
import manifest from '@ip-location-db/geo-whois-asn-country-mmdb/package.json' with { type: 'json' };

/** Epoch milliseconds of the table's day. Its version ends with the hour in which it was made, `2026061719`. */
export const COUNTRY_DATA_AT: number = (() => {
  const [, year, month, day] = /\.(\d{4})(\d{2})(\d{2})\d{2}$/.exec(manifest.version) ?? [];
  return Date.UTC(Number(year), Number(month) - 1, Number(day));
})();

export const COUNTRY_DATA_DAY: string = new Date(COUNTRY_DATA_AT).toISOString().slice(0, 10);

/** The attribution that the data's license requires. */
export const COUNTRY_DATA_NOTICE =
  `Countries of addresses: data of ${COUNTRY_DATA_DAY} of the Number Resource Organization (NRO), https://www.nro.net, ` +
  'licensed under CC BY 4.0 (https://creativecommons.org/licenses/by/4.0/) and merged into one table by ip-location-db ' +
  '(https://github.com/sapics/ip-location-db).';
