/* SPDX-License-Identifier: Apache-2.0 */
#include "pymodule/session.h"

PyTypeObject *type_add(PyObject *module, PyType_Spec *spec, const char *name)
{
	PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);

	if (!type)
		return NULL;
	if (!(spec->flags & Py_TPFLAGS_BASETYPE))
		((PyTypeObject *)type)->tp_new = NULL;
	if (name && PyModule_AddObject(module, name, Py_NewRef(type))) {
		Py_DECREF(type);
		Py_DECREF(type);
		return NULL;
	}
	return (PyTypeObject *)type;   /* struct native has the other reference */
}
