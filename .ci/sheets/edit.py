"""Edits a table in LibreOffice as a person does, and saves it.

edit.py FILE OUT CHARSET SEPARATOR [ROW COLUMN VALUE]...  opens FILE, writes each VALUE into the cell of a row (1 is the first below
the header) and a column (a name of the header), and saves the table as OUT. CHARSET is a number of LibreOffice: 76 UTF-8,
33 Windows-1250. SEPARATOR is one character. VALUE is typed, so that LibreOffice recognises dates and numbers in it.
"""

import pathlib
import subprocess
import sys
import tempfile
import time

import uno
from com.sun.star.beans import PropertyValue
from com.sun.star.connection import NoConnectException


def options(**values):
    out = []
    for name, value in values.items():
        option = PropertyValue()
        option.Name, option.Value = name, value
        out.append(option)
    return tuple(out)


def connect(pipe):
    context = uno.getComponentContext()
    resolver = context.ServiceManager.createInstanceWithContext("com.sun.star.bridge.UnoUrlResolver", context)
    for _ in range(300):
        try:
            return resolver.resolve(f"uno:pipe,name={pipe};urp;StarOffice.ComponentContext")
        except NoConnectException:
            time.sleep(0.2)
    sys.exit("LibreOffice did not start")


def edit(desktop, source, target, charset, separator, changes):
    csv = "Text - txt - csv (StarCalc)"
    document = desktop.loadComponentFromURL(
        source.resolve().as_uri(), "_blank", 0, options(Hidden=True, FilterName=csv, FilterOptions="44,34,76,1")
    )
    sheet = document.Sheets.getByIndex(0)
    columns = {}
    while name := sheet.getCellByPosition(len(columns), 0).String:
        columns[name] = len(columns)
    for row, column, value in changes:
        sheet.getCellByPosition(columns[column], int(row)).setFormula(value)
    # As it is shown, cells quoted where needed, no formulas.
    document.storeToURL(
        target.resolve().as_uri(), options(FilterName=csv, FilterOptions=f"{ord(separator)},34,{charset},1,,0,false,true,false")
    )
    document.close(True)


def main():
    source, target, charset, separator, *rest = sys.argv[1:]
    changes = [rest[i : i + 3] for i in range(0, len(rest), 3)]
    with tempfile.TemporaryDirectory() as profile:
        pipe = "almanac" + pathlib.Path(profile).name
        office = subprocess.Popen(
            ["soffice", "--headless", "--norestore", f"-env:UserInstallation={pathlib.Path(profile).as_uri()}", f"--accept=pipe,name={pipe};urp;"],
            stderr=subprocess.DEVNULL,
        )
        try:
            context = connect(pipe)
            desktop = context.ServiceManager.createInstanceWithContext("com.sun.star.frame.Desktop", context)
            edit(desktop, pathlib.Path(source), pathlib.Path(target), charset, separator, changes)
        finally:
            office.terminate()
            office.wait(30)


main()
