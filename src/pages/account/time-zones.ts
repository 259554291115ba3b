/** Options of the time zone field: city, name in the reader's language, and present offset. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { capitalized } from '../components/intl-name.ts';
import type { SelectChoice } from '../components/select-field.tsx';

/** Browsers still use the former names of some zones. */
const RENAMED: Readonly<Record<string, string>> = {
  'America/Buenos_Aires': 'America/Argentina/Buenos_Aires',
  'America/Godthab': 'America/Nuuk',
  'Asia/Calcutta': 'Asia/Kolkata',
  'Asia/Katmandu': 'Asia/Kathmandu',
  'Asia/Rangoon': 'Asia/Yangon',
  'Asia/Saigon': 'Asia/Ho_Chi_Minh',
  'Atlantic/Faeroe': 'Atlantic/Faroe',
  'Europe/Kiev': 'Europe/Kyiv',
  'Pacific/Enderbury': 'Pacific/Kanton',
  'Pacific/Ponape': 'Pacific/Pohnpei',
  'Pacific/Truk': 'Pacific/Chuuk',
};

/** Zones named before the page may answer the reader: naming all of them takes up to half a second. */
const BATCH = 20;

export function zoneName(zone: string): string {
  return RENAMED[zone] ?? zone;
}

/** Returns every zone by its former or present name once, and the present value. */
export function timeZones(present: string | null): string[] {
  const known = Intl.supportedValuesOf('timeZone').map(zoneName);
  return [...new Set(present === null ? known : [...known, zoneName(present)])];
}

/** Names a zone such as `Vienna – Central European Time (GMT+1)`; by its city alone where the browser knows no more. */
export function timeZoneChoice(zone: string, locale: string): SelectChoice {
  const name = zonePart(zone, locale, 'longGeneric');
  const offset = zonePart(zone, locale, 'shortOffset');
  // Zones without a name of their own, such as UTC, repeat the offset.
  const isNamed = name !== null && !/^(?:GMT|UTC)/.test(name);
  const label = [cityOf(zone), isNamed && `– ${capitalized(name, locale)}`, offset && `(${offset})`]
    .filter(Boolean)
    .join(' ');
  return { value: zone, label };
}

function cityOf(zone: string): string {
  return zone.slice(zone.lastIndexOf('/') + 1).replaceAll('_', ' ');
}

/** Returns the browser's zone first, then the others by city, which they are called until all have been named. */
export function useTimeZoneChoices(present: string, ofBrowser: string, locale: string): readonly SelectChoice[] {
  const [all, setAll] = useState<readonly SelectChoice[]>(() =>
    timeZones(null).map((zone) => ({ value: zone, label: cityOf(zone) })),
  );
  useEffect(() => nameInBatches(timeZones(null), locale, setAll), [locale]);
  return useMemo(() => {
    const first = [ofBrowser, present].filter((zone, index, zones) => zone !== '' && zones.indexOf(zone) === index);
    const [top, ...others] = first.map((zone) => timeZoneChoice(zone, locale));
    const rest = [...others, ...all.filter(({ value }) => !first.includes(value))];
    const { compare } = new Intl.Collator(locale);
    rest.sort((one, other) => compare(one.label, other.label));
    return top ? [top, ...rest] : rest;
  }, [all, present, ofBrowser, locale]);
}

/** @returns a function that stops it. */
function nameInBatches(zones: readonly string[], locale: string, done: (choices: SelectChoice[]) => void): () => void {
  const choices: SelectChoice[] = [];
  let timer = setTimeout(nameSome);
  function nameSome(): void {
    for (const zone of zones.slice(choices.length, choices.length + BATCH)) choices.push(timeZoneChoice(zone, locale));
    if (choices.length < zones.length) timer = setTimeout(nameSome);
    else done(choices);
  }
  return () => clearTimeout(timer);
}

function zonePart(timeZone: string, locale: string, timeZoneName: 'longGeneric' | 'shortOffset'): string | null {
  try {
    const parts = new Intl.DateTimeFormat(locale, { timeZone, timeZoneName }).formatToParts();
    return parts.find(({ type }) => type === 'timeZoneName')?.value ?? null;
  } catch {
    return null;
  }
}
