import { describe, expect, test } from 'bun:test';
import { countryCode } from '../../src/core/country.ts';

describe('countryCode', () => {
  test.each([
    ['DE', 'DE'],
    ['gb', 'GB'],
    [' at ', 'AT'],
    ['Ax', 'AX'],
    ['UM', 'UM'],
    ['PS', 'PS'],
    ['TW', 'TW'],
    ['AQ', 'AQ'],
    // Uninhabited territories are in ISO 3166-1.
    ['BV', 'BV'],
    ['HM', 'HM'],
    // Kosovo is not in ISO 3166-1, but widely used.
    ['XK', 'XK'],
  ])('reads %j as %j', (text, code) => {
    expect(countryCode(text)).toBe(code);
  });

  test.each([
    ['reserved', 'UK'],
    ['reserved', 'EU'],
    ['reserved', 'UN'],
    ['reserved', 'AC'],
    ['reserved', 'TA'],
    ['reserved', 'IC'],
    ['withdrawn', 'SU'],
    ['withdrawn', 'DD'],
    ['withdrawn', 'YU'],
    ['withdrawn', 'AN'],
    ['withdrawn', 'BU'],
    ['private', 'ZZ'],
    ['private', 'XA'],
    ['private', 'QO'],
    ['a continent', 'AF1'],
    ['three letters', 'DEU'],
    ['digits', '276'],
    ['a name', 'Germany'],
    ['nothing', ''],
    ['a region', 'de-DE'],
    ['a foreign letter that would be upper-cased into one of ours', '\u0131t'],
    ['a full-width letter', '\uff24\uff25'],
    ['a half of a pair', '\ud800\ud800'],
    ['far too much', 'DE'.repeat(30_000)],
  ])('refuses %s, %p', (_, text) => {
    expect(countryCode(text)).toBeNull();
  });

  test('knows the 249 codes of ISO 3166-1, and Kosovo', () => {
    const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
    const codes = letters.flatMap((first) => letters.map((second) => first + second));
    expect(codes.filter((code) => countryCode(code) !== null)).toHaveLength(250);
  });
});
