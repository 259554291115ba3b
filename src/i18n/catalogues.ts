import type { Locale } from '../core/locale.ts';
import cs from './locales/cs.json';
import de from './locales/de.json';
import el from './locales/el.json';
import en from './locales/en.json';
import es from './locales/es.json';
import fr from './locales/fr.json';
import it from './locales/it.json';
import nl from './locales/nl.json';
import pl from './locales/pl.json';
import ptBr from './locales/pt-BR.json';
import ptPt from './locales/pt-PT.json';
import ru from './locales/ru.json';
import sv from './locales/sv.json';
import tr from './locales/tr.json';
import uk from './locales/uk.json';
import type { Catalogue, Service } from './texts.ts';

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
