/** How addresses are written by country: order, labels and required fields, for the common patterns. */

/** A field of an address that differs by country. */
export type PlaceField = 'line1' | 'line2' | 'postalCode' | 'city' | 'region';

interface AddressPattern {
  /** Fields of a row stand beside each other. */
  readonly rows: readonly (readonly PlaceField[])[];
  readonly required: readonly PlaceField[];
  /** Labels other than the usual ones, as message names. */
  readonly labels: { readonly postalCode?: 'postalCodeNeeded' | 'zipCode'; readonly region?: RegionLabel };
}

type RegionLabel = 'state' | 'province' | 'prefecture' | 'county';

const STREET = [['line1'], ['line2']] as const;
const ALWAYS = ['line1', 'city'] as const;
const WITH_CODE = [...ALWAYS, 'postalCode'] as const;
const CODE = { postalCode: 'postalCodeNeeded' } as const;
const BY_REGION = [...WITH_CODE, 'region'] as const;

/** For countries that are not listed. */
const USUAL: AddressPattern = {
  rows: [...STREET, ['postalCode', 'city'], ['region']],
  required: ALWAYS,
  labels: {},
};

const CITY_FIRST = [...STREET, ['city', 'region'], ['postalCode']] as const;
const CODE_FIRST = [...STREET, ['postalCode', 'city'], ['region']] as const;
const provinces = { ...CODE, region: 'province' } as const;
const states = { ...CODE, region: 'state' } as const;

/** Countries with their pattern. */
const PATTERNS: readonly (readonly [countries: string, pattern: AddressPattern])[] = [
  [
    'AT BE CH CZ DE DK EE FI FR GR HR HU IS LI LT LU LV MC NL NO PL PT RO RS SE SI SK SM',
    { rows: [...STREET, ['postalCode', 'city']], required: WITH_CODE, labels: CODE },
  ],
  ['GB GG IM JE NZ SG', { rows: [...STREET, ['city', 'postalCode']], required: WITH_CODE, labels: CODE }],
  ['IE', { rows: [...STREET, ['city', 'region'], ['postalCode']], required: ALWAYS, labels: { region: 'county' } }],
  ['US', { rows: CITY_FIRST, required: BY_REGION, labels: { postalCode: 'zipCode', region: 'state' } }],
  ['AU BR IN', { rows: CITY_FIRST, required: BY_REGION, labels: states }],
  ['MX', { rows: CODE_FIRST, required: BY_REGION, labels: states }],
  ['CA CN KR', { rows: CITY_FIRST, required: BY_REGION, labels: provinces }],
  ['ES IT', { rows: CODE_FIRST, required: BY_REGION, labels: provinces }],
  [
    'JP',
    {
      rows: [['postalCode', 'region'], ['city'], ...STREET],
      required: BY_REGION,
      labels: { ...CODE, region: 'prefecture' },
    },
  ],
  ['MY RU TR TW UA ZA', { rows: CODE_FIRST, required: WITH_CODE, labels: CODE }],
  // No postal codes there.
  [
    'AE AG AO BF BI BJ BO BS BW BZ CD CF CG CI CM DJ DM ER FJ GD GM GQ GY HK KI KM KN KP ML MO MR MW NR QA RW SB SC SL SO SR ST SY TD TG TL TO TV UG VU YE ZW',
    { rows: [...STREET, ['city', 'region']], required: ALWAYS, labels: {} },
  ],
];

/** @param country ISO 3166 code; empty if none is chosen yet. */
export function patternOf(country: string): AddressPattern {
  const found = PATTERNS.find(([countries]) => country !== '' && countries.split(' ').includes(country));
  return found?.[1] ?? USUAL;
}

/** Returns the rows of an address as it is written in its country, with fields that hold a value although the country does not use them. */
export function rowsOf(country: string, values: Readonly<Record<PlaceField, string>>) {
  const { rows } = patternOf(country);
  const shown = rows.flat();
  const others = (['postalCode', 'region'] as const).filter((name) => !shown.includes(name) && values[name] !== '');
  return others.length === 0 ? rows : [...rows, others];
}
