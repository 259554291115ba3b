/** Lists all catalogues. */
import type { Locale } from '../core/locale.ts';
import { cs } from './cs.ts';
import { de } from './de.ts';
import { el } from './el.ts';
import { type Catalogue, en } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { it } from './it.ts';
import { nl } from './nl.ts';
import { pl } from './pl.ts';
import { ptBr } from './pt-br.ts';
import { ptPt } from './pt-pt.ts';
import { ru } from './ru.ts';
import { sv } from './sv.ts';
import { tr } from './tr.ts';
import { uk } from './uk.ts';
import type { Service } from './texts.ts';

/** Every translated language, one file each. */
export const CATALOGUES: { readonly en: Catalogue } & { readonly [Other in Locale]?: Catalogue } = {
  en,
  de,
  es,
  fr,
  it,
  nl,
  'pt-BR': ptBr,
  'pt-PT': ptPt,
  tr,
  pl,
  cs,
  sv,
  el,
  ru,
  uk,
};

export const SERVICES = Object.keys(en) as Service[];
