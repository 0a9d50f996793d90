import { expect, it } from "vitest";
import { dataFormat } from "../../../src/objects/data-format.ts";
import { directorySteps } from "../../../src/objects/directory/tables.ts";
import { tenantSteps } from "../../../src/objects/tenant/tables.ts";

it("the data format counts every migration step", () => {
  expect(dataFormat).toBe(tenantSteps.length + directorySteps.length);
});
