/** Browser entry point of the setup page. */
import { hydratePage } from '../browser/hydrate.tsx';
import { SetupPage } from './page.tsx';

hydratePage(SetupPage);
