/** Every choice in the profile is accepted by the API. */
import { describe, expect, test } from 'bun:test';
import { countryCode } from '@/core/country.ts';
import { currencyCode } from '@/core/currency.ts';
import { canonicalLocale, canonicalTimeZone } from '@/core/language.ts';
import { countryChoices, currencyChoices, languageChoices } from '@/pages/account/choices.ts';
import { timeZoneChoice, timeZones } from '@/pages/account/time-zones.ts';

const values = (choices: readonly { readonly value: string }[]) => choices.map(({ value }) => value);

describe('the choices', () => {
  test('are all accepted by the API', () => {
    expect(values(countryChoices('en', null)).filter((code) => countryCode(code) !== code)).toEqual([]);
    expect(values(currencyChoices('en', null)).filter((code) => currencyCode(code) !== code)).toEqual([]);
    expect(values(languageChoices('en')).filter((code) => canonicalLocale(code) !== code)).toEqual([]);
    expect(timeZones(null).filter((zone) => canonicalTimeZone(zone) === null)).toEqual([]);
  });

  test('include every country that the API accepts', () => {
    const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
    const pairs = letters.flatMap((first) => letters.map((second) => first + second));
    const listed = new Set(values(countryChoices('de', null)));
    expect(pairs.filter((pair) => countryCode(pair) !== null && !listed.has(pair))).toEqual([]);
  });

  test('are named and sorted in the reader’s language, with a capital first letter', () => {
    const spanish = languageChoices('es').map(({ label }) => label);
    expect(spanish).toContain('Español');
    expect(spanish.indexOf('Árabe')).toBeLessThan(spanish.indexOf('Bengalí'));
    expect(countryChoices('uk', null).find(({ value }) => value === 'AT')?.label).toBe('Австрія');
  });

  test('name a time zone by its city, its name in the reader’s language and its offset', () => {
    const label = (zone: string, locale: string) => timeZoneChoice(zone, locale).label;
    expect(label('Asia/Kolkata', 'en')).toBe('Kolkata – India Standard Time (GMT+5:30)');
    expect(label('Asia/Kolkata', 'fr')).toBe('Kolkata – Heure de l’Inde (UTC+5:30)');
    expect(label('America/Argentina/Rio_Gallegos', 'de')).toBe('Rio Gallegos – Argentinische Normalzeit (GMT-3)');
    expect(label('UTC', 'en')).toBe('UTC (GMT+0)');
    expect(label('Pacific/Unknown', 'en')).toBe('Unknown');
  });

  test('always include the current value', () => {
    expect(values(languageChoices('en', 'de-AT'))).toContain('de-AT');
    expect(values(currencyChoices('en', 'DEM'))).toContain('DEM');
    expect(timeZones('Europe/Kiev')).toContain('Europe/Kyiv');
    expect(values(countryChoices('en', 'AT')).filter((code) => code === 'AT')).toHaveLength(1);
  });
});
