# Install and packages (see the packaging issue's helper).
