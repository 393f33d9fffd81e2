// The panel that is being dragged in this window.

import type { PanelName } from "./docks";

export const dragged: { panel: PanelName | undefined } = { panel: undefined };
