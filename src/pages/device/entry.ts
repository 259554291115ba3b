/** Browser entry point of the device confirmation page. */
import { hydratePage } from '../browser/hydrate.tsx';
import { ConnectPage } from './page.tsx';

hydratePage(ConnectPage);
