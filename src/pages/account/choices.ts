/** What can be chosen from in the profile, by the names that the browser has for it in the reader's language. */
import { intlName } from '../components/intl-name.ts';
import type { SelectChoice } from '../components/select-field.tsx';

const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];

/** Named by `Intl`, but reserved, withdrawn or no countries at all: the API refuses them. */
const NO_COUNTRIES = new Set(
  'AC AN BU CP CQ CS DD DG DY EA EU EZ FX HV IC NH QO RH SU TA TP UK UN VD XA XB YD YU ZR ZZ'.split(' '),
);

/** Money of today, as in ISO 4217: runtimes know the withdrawn as well, and do not say which those are. */
const CURRENCIES =
  `AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP
  CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS
  INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU
  MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK
  SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VES VND VUV WST XAF XCD
  XOF XPF YER ZAR ZMW`.split(/\s+/);

/** Browsers go on giving some zones the name that their city had before. */
const RENAMED: Readonly<Record<string, string>> = {
  'Asia/Calcutta': 'Asia/Kolkata',
  'Asia/Katmandu': 'Asia/Kathmandu',
  'Asia/Rangoon': 'Asia/Yangon',
  'Asia/Saigon': 'Asia/Ho_Chi_Minh',
  'Europe/Kiev': 'Europe/Kyiv',
};

/** @param present what is chosen now: it is in the list, whatever it is. */
export function countryChoices(locale: string, present: string | null): SelectChoice[] {
  const codes = pairs().filter((code) => !NO_COUNTRIES.has(code));
  return named(codes, 'region', locale, present);
}

export function currencyChoices(locale: string, present: string | null): SelectChoice[] {
  return named(CURRENCIES, 'currency', locale, present);
}

/** Languages by their two letters; one that was given more closely is in the list as it is. */
export function languageChoices(locale: string, present: string | null = null): SelectChoice[] {
  const codes = pairs().map((pair) => pair.toLowerCase());
  const own = codes.filter((code) => Intl.getCanonicalLocales(code)[0] === code);
  return named(own, 'language', locale, present);
}

export function timeZoneChoices(present: string | null): SelectChoice[] {
  const known = Intl.supportedValuesOf('timeZone').map(zoneName);
  const zones = new Set(present === null ? known : [...known, zoneName(present)]);
  return [...zones].sort().map((zone) => ({ value: zone, label: zone.replaceAll('_', ' ') }));
}

/** A time zone by the name of today. */
export function zoneName(zone: string): string {
  return RENAMED[zone] ?? zone;
}

/** What a country, currency or language is called; the code itself where it has no name. */
export function nameOf(code: string, type: 'region' | 'currency' | 'language', locale: string): string {
  return capitalized(intlName(code, type, locale), locale);
}

function named(
  codes: readonly string[],
  type: 'region' | 'currency' | 'language',
  locale: string,
  present: string | null,
) {
  const names = new Intl.DisplayNames(locale, { type, fallback: 'none' });
  const choices = codes.flatMap((code): SelectChoice[] => {
    const label = names.of(code);
    return label === undefined || code === present ? [] : [{ value: code, label: capitalized(label, locale) }];
  });
  if (present) choices.push({ value: present, label: nameOf(present, type, locale) });
  const { compare } = new Intl.Collator(locale);
  return choices.sort((one, other) => compare(one.label, other.label));
}

/** A list begins its entries large, also where a sentence would write them small. */
function capitalized(name: string, locale: string): string {
  const [first = '', ...rest] = name;
  return first.toLocaleUpperCase(locale) + rest.join('');
}

function pairs(): string[] {
  return LETTERS.flatMap((first) => LETTERS.map((second) => first + second));
}
