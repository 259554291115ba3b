/** Options of the profile's select fields, named by `Intl` in the reader's language. */
import { capitalized, intlName } from '../components/intl-name.ts';
import type { SelectChoice } from '../components/select-field.tsx';

const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];

/** Codes that `Intl` names but the API refuses: reserved, withdrawn or not countries. */
const NO_COUNTRIES = new Set(
  'AC AN BU CP CQ CS DD DG DY EA EU EZ FX HV IC NH QO RH SU TA TP UK UN VD XA XB YD YU ZR ZZ'.split(' '),
);

/** Current ISO 4217 currencies: `Intl` also lists withdrawn ones without marking them. */
const CURRENCIES =
  `AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP
  CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS
  INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU
  MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK
  SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VES VND VUV WST XAF XCD
  XOF XPF YER ZAR ZMW`.split(/\s+/);

/** @param present current value, always part of the list. */
export function countryChoices(locale: string, present: string | null): SelectChoice[] {
  const codes = pairs().filter((code) => !NO_COUNTRIES.has(code));
  return named(codes, 'region', locale, present);
}

export function currencyChoices(locale: string, present: string | null): SelectChoice[] {
  return named(CURRENCIES, 'currency', locale, present);
}

/** Returns two-letter languages, plus the present value if it is more specific. */
export function languageChoices(locale: string, present: string | null = null): SelectChoice[] {
  const codes = pairs().map((pair) => pair.toLowerCase());
  const own = codes.filter((code) => Intl.getCanonicalLocales(code)[0] === code);
  return named(own, 'language', locale, present);
}

/** Returns the name of a country, currency or language, or its code when unnamed. */
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

function pairs(): string[] {
  return LETTERS.flatMap((first) => LETTERS.map((second) => first + second));
}
