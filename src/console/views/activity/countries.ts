/** Country names for a filter, as far as the browser knows them. */
import { once } from '../../once.ts';

const names = once(() => new Intl.DisplayNames('en', { type: 'region', fallback: 'none' }));
const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
/** Reserved, withdrawn and private codes. */
const NO_COUNTRIES = new Set(
  'AC CP CQ CS DD DG DY EA EU EZ FX IC NT QO SU TA TP UK UN XA XB YD YU ZR ZZ AN BU CT FQ HV JT MI NH NQ PC PU PZ RH VD WK'.split(
    ' ',
  ),
);

/** Returns the name, or the code if unnamed. */
export function countryName(code: string): string {
  try {
    return names().of(code) ?? code;
  } catch {
    return code;
  }
}

/** Returns all countries by name. */
export const countries = once(() =>
  LETTERS.flatMap((first) => LETTERS.map((second) => first + second))
    .filter((code) => !NO_COUNTRIES.has(code) && names().of(code) !== undefined)
    .map((value) => ({ value, label: countryName(value) }))
    .sort((one, other) => one.label.localeCompare(other.label, 'en')),
);
