/** `gatehouse version`: prints the version and the date of the country table. */
import { COUNTRY_DATA_DAY } from '../core/country-data.ts';
import { VERSION } from '../version.ts';
import type { Command } from './arguments.ts';

export const version: Command = {
  name: 'version',
  group: 'about',
  summary: 'Print the version, and the date of the country table',
  run() {
    process.stdout.write(
      `gatehouse ${VERSION} (bun ${Bun.version}, ${process.platform}-${process.arch})\n` +
        `countries of ${COUNTRY_DATA_DAY} (NRO, nro.net, CC BY 4.0)\n`,
    );
    return 0;
  },
};
